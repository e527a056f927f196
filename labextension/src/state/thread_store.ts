/**
 * The log of one chat as the thread reads it: loaded by pages, followed by frames, made whole after a gap.
 *
 * Whatever arrives while another page is on its way is folded into the log of that moment; a page that comes after
 * the log was replaced is dropped.
 */
import { NoAnswer } from '../client/errors';
import type { AgentChatApi } from '../client/rest';
import type { EventsFrame } from '../client/frames';
import type { ChatEvent } from '../protocol/generated';
import { failureOf } from './failure';
import { applyEvents, emptyLog, isGap, prependEvents } from './reducer';
import type { ChatLog } from './reducer';
import type { Failure, ThreadView } from './stores';
import { change, Value } from './value';

/** Few at first, so that the first text is there soon. */
export const FIRST_TURNS = 10;
export const OLDER_TURNS = 20;
/** On the way to an event far back: as many as the server gives. */
const FAR_TURNS = 200;
const MOST_TURNS = 100;
const CATCH_UP_EVENTS = 2000;
/** More than this was missed: the log is loaded anew instead. */
const CATCH_UP_PAGES = 5;

export class ThreadStore {
  readonly view = new Value<ThreadView>({
    state: 'loading',
    failure: null,
    turns: [],
    hasOlder: false,
    loadingOlder: false,
    pending: [],
  });

  private log: ChatLog = emptyLog();
  private epoch: string | null = null;
  /** Rises when the log is replaced. */
  private generation = 0;
  private isLoaded = false;

  constructor(
    private readonly id: string,
    private readonly api: Pick<AgentChatApi, 'events'>,
  ) {}

  get loaded(): boolean {
    return this.isLoaded;
  }

  get lastSeq(): number {
    return this.log.lastSeq;
  }

  cursor(): { after_seq: number; epoch: string | null } {
    return { after_seq: this.log.lastSeq, epoch: this.epoch };
  }

  /** Loads the newest turns; what is shown stays until they are there. Answers why it could not, never throws. */
  async load(): Promise<Failure | null> {
    this.generation += 1;
    const { generation } = this;
    if (!this.isLoaded) {
      change(this.view, { state: 'loading', failure: null });
    }
    const turns = Math.min(MOST_TURNS, Math.max(FIRST_TURNS, this.log.turns.length));
    try {
      const page = await this.api.events(this.id, { turns });
      if (generation === this.generation) {
        this.epoch = page.epoch;
        this.isLoaded = true;
        this.log = applyEvents(emptyLog(), page.events, page.last_seq);
        this.publish({ state: 'ready', failure: null, hasOlder: page.has_more });
      }
      return null;
    } catch (error) {
      return generation === this.generation ? this.fail(error) : null;
    }
  }

  async loadOlder(): Promise<void> {
    const { hasOlder, loadingOlder } = this.view.getSnapshot();
    const { generation } = this;
    const before = this.log.firstSeq;
    if (!hasOlder || loadingOlder || before === null) {
      return;
    }
    change(this.view, { loadingOlder: true });
    try {
      const page = await this.api.events(this.id, { before, turns: OLDER_TURNS });
      if (generation === this.generation) {
        this.log = prependEvents(this.log, page.events);
        this.publish({ hasOlder: page.has_more && page.events.length > 0, failure: null });
      }
    } catch (error) {
      change(this.view, { failure: failureOf(error) });
    } finally {
      change(this.view, { loadingOlder: false });
    }
  }

  /** Loads all turns from the one with `seq` on, shown together at the end. Throws what the call throws. */
  async loadBackTo(seq: number): Promise<void> {
    const { generation } = this;
    let { firstSeq } = this.log;
    let hasOlder = this.view.getSnapshot().hasOlder;
    let events: ChatEvent[] = [];
    change(this.view, { loadingOlder: true });
    try {
      while (hasOlder && firstSeq !== null && firstSeq > seq && generation === this.generation) {
        const page = await this.api.events(this.id, { before: firstSeq, turns: FAR_TURNS });
        events = [...page.events, ...events];
        hasOlder = page.has_more && page.events.length > 0;
        firstSeq = page.events[0]?.seq ?? firstSeq;
      }
      if (generation === this.generation && events.length > 0) {
        this.log = prependEvents(this.log, events);
        this.publish({ hasOlder, failure: null });
      }
    } finally {
      change(this.view, { loadingOlder: false });
    }
  }

  /**
   * Folds frames in. `gap`: events before one of them are missing, `catchUp` first; `rewind`: a rewind was undone, so
   * events in the middle are back, which only `load` brings.
   */
  apply(frames: readonly EventsFrame[]): 'applied' | 'gap' | 'rewind' {
    if (!this.isLoaded) {
      return 'applied';
    }
    let result: 'applied' | 'gap' | 'rewind' = 'applied';
    for (const frame of frames) {
      if (isGap(this.log, frame.after)) {
        result = 'gap';
        break;
      }
      const undone = frame.events.some(
        event => event.type === 'rewind_undone' && event.seq > this.log.lastSeq,
      );
      result = undone ? 'rewind' : result;
      this.log = applyEvents(this.log, frame.events, frame.upto);
    }
    this.publish({});
    return result;
  }

  /**
   * Loads what is missing behind the log's end; afterwards everything stored up to `upto` is in it. Throws what the
   * call throws.
   */
  async catchUp(upto: number): Promise<void> {
    const { generation } = this;
    for (let pages = 0; pages < CATCH_UP_PAGES; pages++) {
      const query = { after: this.log.lastSeq, limit: CATCH_UP_EVENTS };
      const page = await this.api.events(this.id, query);
      if (generation !== this.generation) {
        return;
      }
      if (page.epoch !== this.epoch) {
        break;
      }
      const end = page.has_more ? page.last_seq : Math.max(page.last_seq, upto);
      this.log = applyEvents(this.log, page.events, end);
      this.publish({});
      if (!page.has_more) {
        return;
      }
    }
    const failure = await this.load();
    if (failure) {
      throw new NoAnswer(failure.message);
    }
  }

  /** Drops the log, to free its memory; the next `load` brings it back. */
  forget(): void {
    this.generation += 1;
    this.isLoaded = false;
    this.log = emptyLog();
    this.publish({ state: 'loading', failure: null, hasOlder: false });
  }

  markDeleted(): void {
    this.generation += 1;
    change(this.view, { state: 'deleted' });
  }

  private fail(error: unknown): Failure {
    const failure = failureOf(error);
    if (failure.code === 'not_found') {
      this.markDeleted();
    } else {
      // what is there stays readable
      change(this.view, this.isLoaded ? { failure } : { state: 'failed', failure });
    }
    return failure;
  }

  private publish(fields: Partial<ThreadView>): void {
    change(this.view, { ...fields, turns: this.log.turns });
  }
}
