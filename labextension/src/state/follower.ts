/**
 * Keeps one open chat in step with the server: loads it, follows it, and makes it whole again after a gap.
 *
 * Frames are taken in once per drawn frame, in the order in which they came, so `sync` never overtakes events. Calls
 * that get no answer are tried again for as long as the chat is open.
 */
import { reconnectDelay } from '../client/backoff';
import { ApiError } from '../client/errors';
import type { EventsFrame } from '../client/frames';
import type { Link } from '../client/link';
import type { Sync } from '../protocol/generated';
import type { RunStore } from './run_store';
import type { Schedule } from './schedule';
import type { Failure } from './stores';
import type { ThreadStore } from './thread_store';

export type FollowerDeps = {
  readonly link: Pick<Link, 'subscribe' | 'unsubscribe' | 'resubscribe'>;
  readonly schedule: Schedule;
  readonly thread: ThreadStore;
  readonly run: RunStore;
  /** A rewind was undone, by whomever. */
  readonly onUndone: () => void;
  /** After thread and run have taken something in. */
  readonly onTaken: () => void;
};

/** Failures that go away by themselves; others wait for the person. */
const PASSING: ReadonlySet<Failure['code']> = new Set([
  'network',
  'internal',
  'storage',
  'rate_limited',
]);

export class Follower {
  private active = false;
  private incoming: (EventsFrame | Sync)[] = [];
  private loading: Promise<void> | null = null;
  private recovering: Promise<void> | null = null;
  private readonly pauses = new Set<() => void>();

  constructor(
    private readonly id: string,
    private readonly deps: FollowerDeps,
  ) {}

  /** Loads what is not loaded, then follows. */
  async start(): Promise<void> {
    this.active = true;
    if (!this.deps.thread.loaded) {
      await this.load();
    }
    this.subscribe();
  }

  stop(): void {
    this.takeIn();
    this.active = false;
    this.deps.link.unsubscribe(this.id);
    this.deps.run.forget();
    this.endPauses();
  }

  /** Loads anew, then follows from there. */
  async restart(): Promise<void> {
    this.endPauses();
    await this.load();
    this.subscribe();
  }

  receive(frame: EventsFrame | Sync): void {
    this.incoming.push(frame);
    if (this.incoming.length === 1) {
      this.deps.schedule(() => this.takeIn());
    }
  }

  /** Events up to `upto` are missing: loads them, then follows again. */
  recover(upto: number): void {
    this.recovering ??= this.tryRecover(upto).finally(() => {
      this.recovering = null;
    });
  }

  onSubscribeRefused(error: ApiError): void {
    if (error.code === 'gone') {
      void this.restart();
    } else if (error.code === 'not_found') {
      this.markDeleted();
    }
  }

  onConnected(): void {
    this.endPauses();
  }

  onDisconnected(): void {
    this.takeIn();
    this.deps.run.forget();
  }

  markDeleted(): void {
    this.deps.link.unsubscribe(this.id);
    this.deps.thread.markDeleted();
  }

  private subscribe(): void {
    const { thread, link } = this.deps;
    if (this.active && thread.loaded && thread.view.getSnapshot().state !== 'deleted') {
      this.deps.onTaken();
      link.subscribe(this.id, () => {
        this.takeIn();
        return thread.cursor();
      });
    }
  }

  private takeIn(): void {
    const frames = this.incoming;
    if (frames.length === 0) {
      return;
    }
    this.incoming = [];
    const events = frames.filter(frame => frame.type === 'events');
    const sync = frames.findLast(frame => frame.type === 'sync');
    if (events.length > 0) {
      const result = this.deps.thread.apply(events);
      this.deps.run.sawOutput();
      if (result === 'gap') {
        this.recover(Math.max(...events.map(frame => frame.after)));
      } else if (result === 'rewind') {
        this.deps.onUndone();
        void this.restart();
      }
    }
    if (sync) {
      this.deps.run.apply(sync);
    }
    this.deps.onTaken();
  }

  private load(): Promise<void> {
    this.loading ??= this.tryLoad().finally(() => {
      this.loading = null;
    });
    return this.loading;
  }

  private async tryLoad(): Promise<void> {
    const { thread } = this.deps;
    for (let attempt = 0; ; attempt++) {
      const failure = await thread.load();
      if (!failure || !this.active || !PASSING.has(failure.code)) {
        return;
      }
      await this.pause(attempt);
    }
  }

  private async tryRecover(upto: number): Promise<void> {
    for (let attempt = 0; this.active; attempt++) {
      try {
        await this.deps.thread.catchUp(upto);
        this.deps.onTaken();
        this.deps.link.resubscribe(this.id);
        return;
      } catch (error) {
        if (error instanceof ApiError && error.code === 'not_found') {
          this.markDeleted();
          return;
        }
        await this.pause(attempt);
      }
    }
  }

  /** Waits a while, or until the connection is back or the person asks. */
  private pause(attempt: number): Promise<void> {
    return new Promise(resolve => {
      const end = (): void => {
        clearTimeout(timer);
        this.pauses.delete(end);
        resolve();
      };
      const timer = setTimeout(end, reconnectDelay(attempt + 1, Math.random));
      this.pauses.add(end);
    });
  }

  private endPauses(): void {
    [...this.pauses].forEach(end => end());
  }
}
