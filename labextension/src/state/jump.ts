/** Going to an event of a chat that somebody found: loads what is between it and the end, then says where it stands. */
import type { AgentChatApi } from '../client/rest';
import type { IJump, JumpTarget, ThreadView } from './stores';
import type { ThreadStore } from './thread_store';
import { Value } from './value';

export type JumpDeps = {
  readonly api: Pick<AgentChatApi, 'events'>;
  readonly thread: Pick<ThreadStore, 'view' | 'loadBackTo'>;
};

export class Jump implements IJump {
  private readonly target = new Value<JumpTarget | null>(null);
  readonly subscribe = this.target.subscribe;
  readonly getSnapshot = this.target.getSnapshot;
  private count = 0;

  constructor(
    private readonly chatId: string,
    private readonly deps: JumpDeps,
  ) {}

  async to(seq: number, match = ''): Promise<void> {
    this.count += 1;
    const { count } = this;
    this.target.set(null);
    try {
      const place = await this.placeOf(seq);
      if ((await this.loaded()) && count === this.count) {
        await this.deps.thread.loadBackTo(place);
        if (count === this.count) {
          this.target.set({ seq: place, match, count });
        }
      }
    } catch {
      // the chat opens at its end; the thread and the connection line say what is wrong
    }
  }

  done(): void {
    this.target.set(null);
  }

  /** A text stands where it began, but is stored, and found, where it ended. */
  private async placeOf(seq: number): Promise<number> {
    const { events } = await this.deps.api.events(this.chatId, { after: seq - 1, limit: 1 });
    const event = events[0];
    const text = event?.type === 'assistant_text' || event?.type === 'thinking';
    return text && event.seq === seq ? (event.first_seq ?? seq) : seq;
  }

  /** Resolves when the first page of the thread is there; false when it never will be. */
  private loaded(): Promise<boolean> {
    const { view } = this.deps.thread;
    return new Promise(resolve => {
      const look = ({ state }: ThreadView): boolean => {
        const settled = state === 'ready' || state === 'deleted';
        if (settled) {
          resolve(state === 'ready');
        }
        return settled;
      };
      if (!look(view.getSnapshot())) {
        const end = view.subscribe(() => {
          if (look(view.getSnapshot())) {
            end();
          }
        });
      }
    });
  }
}
