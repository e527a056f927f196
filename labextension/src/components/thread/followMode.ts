/**
 * Keeps a scrolling element at its end until the reader scrolls up, and again once they come back to the end.
 *
 * Content changes height by itself all the time, so a scroll event alone says nothing: the reader has left only when
 * the position fell although the content did not shrink. And since content also grows without any scroll event, each
 * change of size pins the end again.
 */
export class FollowMode {
  /** `changed` is called with each change of `following`; it begins with `following`. */
  constructor(changed: (following: boolean) => void, following = true) {
    this.#changed = changed;
    this.#following = following;
  }

  get following(): boolean {
    return this.#following;
  }

  /** Follows `content` inside `scroller` from now on; the answer ends that. */
  attach(scroller: HTMLElement, content: HTMLElement): () => void {
    this.#scroller = scroller;
    const observer = new ResizeObserver(() => this.pin());
    observer.observe(content);
    observer.observe(scroller);
    const onScroll = (): void => this.#read();
    scroller.addEventListener('scroll', onScroll, { passive: true });
    this.pin();
    return () => {
      observer.disconnect();
      scroller.removeEventListener('scroll', onScroll);
      this.#scroller = null;
    };
  }

  /** Goes to the end and stays there. */
  follow(): void {
    this.#set(true);
    this.pin();
  }

  /** Stays where it is. */
  release(): void {
    this.#set(false);
  }

  /** Goes to the end if it follows. */
  pin(): void {
    const scroller = this.#scroller;
    if (scroller !== null && this.#following) {
      scroller.scrollTop = scroller.scrollHeight;
      this.#remember(scroller);
    }
  }

  #read(): void {
    const scroller = this.#scroller;
    if (scroller === null) {
      return;
    }
    const { scrollTop, scrollHeight, clientHeight } = scroller;
    const atEnd = scrollHeight - scrollTop - clientHeight <= SLACK;
    const left = scrollTop < this.#top - 1 && scrollHeight >= this.#height;
    if (atEnd) {
      this.#set(true);
    } else if (left) {
      this.#set(false);
    }
    this.#remember(scroller);
  }

  #remember(scroller: HTMLElement): void {
    this.#top = scroller.scrollTop;
    this.#height = scroller.scrollHeight;
  }

  #set(following: boolean): void {
    if (this.#following !== following) {
      this.#following = following;
      this.#changed(following);
    }
  }

  readonly #changed: (following: boolean) => void;
  #scroller: HTMLElement | null = null;
  #following: boolean;
  #top = 0;
  #height = 0;
}

/** px from the end that still count as the end. */
const SLACK = 8;
