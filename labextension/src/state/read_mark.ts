/** Tells the server what a person has seen, seldom enough that a streaming answer does not flood it. */

/** At most one call in this time. */
export const READ_MS = 2000;

export class ReadMark {
  private told = 0;
  /** The last that was on its way, whether it arrived or not. */
  private sent = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private latest = 0;

  constructor(private readonly tell: (seq: number) => Promise<void>) {}

  /** All up to `seq` was seen; `unread`: the server still counts the chat as unread. `final`: no more comes for now. */
  seen(seq: number, unread: boolean, final = false): void {
    this.latest = Math.max(this.latest, seq);
    if (final) {
      this.flush();
    }
    if (this.timer !== undefined || (!unread && this.latest <= this.told)) {
      return;
    }
    this.send();
    this.timer = setTimeout(() => {
      this.timer = undefined;
      if (this.latest > this.sent) {
        this.seen(this.latest, false);
      }
    }, READ_MS);
  }

  /** The person looks away: what was seen is told now. */
  flush(): void {
    if (this.latest > this.told) {
      this.send();
    }
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private send(): void {
    const seq = this.latest;
    this.told = seq;
    this.sent = seq;
    this.tell(seq).catch(() => {
      // told again with the next events, or when the person comes back
      this.told = 0;
    });
  }
}
