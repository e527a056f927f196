/** The trash of this server: loaded when somebody looks, then kept up to date by what chats do. */
import type { AgentChatApi } from '../client/rest';
import type { Chat } from '../protocol/generated';
import { failureOf } from './failure';
import type { ITrash, TrashView } from './stores';
import { change, Value } from './value';

export class TrashStore implements ITrash {
  private readonly view = new Value<TrashView>({
    state: 'idle',
    failure: null,
    chats: [],
    days: 0,
    restored: null,
  });
  private loads = 0;

  readonly subscribe = this.view.subscribe;
  readonly getSnapshot = this.view.getSnapshot;

  constructor(
    private readonly api: AgentChatApi,
    /** Told of each row that is back. */
    private readonly onRow: (chat: Chat) => void,
  ) {}

  async load(): Promise<void> {
    this.loads += 1;
    const load = this.loads;
    const { chats } = this.view.getSnapshot();
    change(this.view, { restored: null, ...(chats.length === 0 ? { state: 'loading' } : {}) });
    await this.ask(load);
  }

  async restore(id: string): Promise<boolean> {
    const found = this.view.getSnapshot().chats.find(chat => chat.id === id) ?? null;
    try {
      this.onRow(await this.api.restoreChat(id));
      this.drop(id);
      change(this.view, { failure: null, restored: found });
      return true;
    } catch (error) {
      change(this.view, { failure: failureOf(error) });
      return false;
    }
  }

  dismissFailure(): void {
    change(this.view, { failure: null });
  }

  /** A chat is (back) in the list. */
  drop(id: string): void {
    const { chats } = this.view.getSnapshot();
    if (chats.some(chat => chat.id === id)) {
      change(this.view, { chats: chats.filter(chat => chat.id !== id) });
    }
  }

  /** Something was deleted: who looks sees it. */
  onDeleted(): void {
    if (this.view.getSnapshot().state !== 'idle') {
      this.loads += 1;
      void this.ask(this.loads);
    }
  }

  private async ask(load: number): Promise<void> {
    try {
      const { chats, days } = await this.api.trash();
      if (load === this.loads) {
        change(this.view, { state: 'ready', failure: null, chats, days });
      }
    } catch (error) {
      if (load === this.loads) {
        const { chats } = this.view.getSnapshot();
        const state = chats.length === 0 ? 'failed' : 'ready';
        change(this.view, { state, failure: failureOf(error) });
      }
    }
  }
}
