/** The rows of all chats that this person may see: loaded by pages, then kept up to date by frames. */
import type { ChatsQuery, NewChatBody, PatchBody } from '../client/answers';
import type { AgentChatApi } from '../client/rest';
import type { Chat } from '../protocol/generated';
import { failureOf } from './failure';
import { byActivity, countsOf, groupChats, passes } from './list_groups';
import { isRaise, startsRaised } from './raise';
import type { IListStore, ListFilter, ListView } from './stores';
import { Value } from './value';

const PAGE = 200;

type State = Pick<ListView, 'state' | 'failure' | 'filter' | 'query' | 'elsewhere' | 'deleted'> & {
  readonly rows: ReadonlyMap<string, Chat>;
  readonly cursor: string | null;
};

export class ListStore implements IListStore {
  private state: State = {
    state: 'loading',
    failure: null,
    filter: 'all',
    query: '',
    elsewhere: 0,
    deleted: [],
    rows: new Map(),
    cursor: null,
  };
  private readonly view = new Value<ListView>(viewOf(this.state));
  /** Rows that came by frame or answer while a page was on its way: newer than the page. */
  private fresh = new Map<string, Chat | null>();
  private loads = 0;
  private searches = 0;

  readonly subscribe = this.view.subscribe;
  readonly getSnapshot = this.view.getSnapshot;

  constructor(
    private readonly api: AgentChatApi,
    /** Told of each row that came with an answer of ours. */
    private readonly onRow: (chat: Chat) => void = () => undefined,
  ) {}

  /** Loads the first page anew, and what the filter needs besides. Failure is shown, never thrown. */
  async load(): Promise<void> {
    this.loads += 1;
    const load = this.loads;
    this.fresh = new Map();
    try {
      const page = await this.api.chats({ limit: PAGE });
      if (load === this.loads) {
        const archived = [...this.state.rows.values()].filter(chat => chat.archived);
        this.update({
          state: 'ready',
          failure: null,
          elsewhere: page.elsewhere,
          cursor: page.next_cursor,
          rows: this.rowsWith(new Map(), [...archived, ...page.chats]),
        });
      }
    } catch (error) {
      if (load === this.loads) {
        const failure = failureOf(error);
        this.update(this.state.rows.size > 0 ? { failure } : { state: 'failed', failure });
      }
    }
  }

  async loadMore(): Promise<void> {
    const { cursor } = this.state;
    const load = this.loads;
    if (cursor === null) {
      return;
    }
    // a second call while this one waits has nothing to do
    this.update({ cursor: null });
    try {
      const page = await this.api.chats({ limit: PAGE, cursor });
      if (load === this.loads) {
        const rows = this.rowsWith(this.state.rows, page.chats);
        this.update({ cursor: page.next_cursor, rows, failure: null });
      }
    } catch (error) {
      if (load === this.loads) {
        this.update({ cursor, failure: failureOf(error) });
      }
    }
  }

  setFilter(filter: ListFilter): void {
    this.update({ filter });
    if (filter === 'archived') {
      void this.find({ archived: true });
    }
  }

  /** Filters at once; rows that are not loaded yet are asked for. */
  setQuery(query: string): void {
    this.update({ query });
    const { cursor, filter } = this.state;
    if (query.trim() !== '' && (cursor !== null || filter === 'archived')) {
      void this.find({ q: query.trim(), archived: filter === 'archived' });
    }
  }

  get(id: string): Chat | undefined {
    return this.state.rows.get(id);
  }

  all(): readonly Chat[] {
    return [...this.state.rows.values()].sort(byActivity);
  }

  /** A raise above code + ask goes by the person's browser session. Throws what the call throws, as all below. */
  async create(settings: NewChatBody): Promise<Chat> {
    return this.answered(await this.api.createChat(settings, startsRaised(settings)));
  }

  async patch(id: string, change: PatchBody): Promise<Chat> {
    const byPerson = isRaise(this.get(id) ?? null, change);
    return this.answered(await this.api.patchChat(id, change, byPerson));
  }

  async remove(id: string): Promise<void> {
    const row = this.get(id);
    const title = row?.title ?? '';
    this.drop(id);
    try {
      await this.api.deleteChat(id);
    } catch (error) {
      if (row) {
        this.take(row);
      }
      throw error;
    }
    this.drop(id);
    this.forgetDeleted(id);
    this.update({ deleted: [...this.state.deleted, { id, title, failure: null }] });
  }

  async restore(id: string): Promise<void> {
    try {
      this.answered(await this.api.restoreChat(id));
      this.forgetDeleted(id);
    } catch (error) {
      const failure = failureOf(error);
      const deleted = this.state.deleted.map(chat =>
        chat.id === id ? { ...chat, failure } : chat,
      );
      this.update({ deleted });
    }
  }

  forgetDeleted(id: string): void {
    this.update({ deleted: this.state.deleted.filter(chat => chat.id !== id) });
  }

  async markRead(id: string): Promise<void> {
    await this.api.read(id, { seq: this.get(id)?.last_seq ?? 0 });
  }

  async markUnread(id: string): Promise<void> {
    await this.api.read(id, { unread: true });
  }

  /** A row is new or has changed. */
  take(chat: Chat): void {
    this.fresh.set(chat.id, chat);
    this.update({ rows: new Map(this.state.rows).set(chat.id, chat) });
  }

  /** A chat is gone. */
  drop(id: string): void {
    this.fresh.set(id, null);
    const rows = new Map(this.state.rows);
    if (rows.delete(id)) {
      this.update({ rows });
    }
  }

  private answered(chat: Chat): Chat {
    this.take(chat);
    this.onRow(chat);
    return chat;
  }

  private async find(query: ChatsQuery): Promise<void> {
    this.searches += 1;
    const search = this.searches;
    try {
      const page = await this.api.chats({ limit: PAGE, ...query });
      this.update({ rows: this.rowsWith(this.state.rows, page.chats) });
    } catch (error) {
      if (search === this.searches) {
        this.update({ failure: failureOf(error) });
      }
    }
  }

  private rowsWith(rows: ReadonlyMap<string, Chat>, page: readonly Chat[]): Map<string, Chat> {
    const all = new Map(rows);
    page.forEach(chat => all.set(chat.id, chat));
    for (const [id, chat] of this.fresh) {
      if (chat === null) {
        all.delete(id);
      } else {
        all.set(id, chat);
      }
    }
    return all;
  }

  private update(fields: Partial<State>): void {
    this.state = { ...this.state, ...fields };
    this.view.set(viewOf(this.state));
  }
}

function viewOf({ rows, cursor, ...said }: State): ListView {
  const all = [...rows.values()].sort(byActivity);
  const shown = all.filter(chat => passes(chat, said.filter, said.query));
  return {
    ...said,
    groups: groupChats(shown),
    shown: shown.length,
    total: all.length,
    counts: countsOf(all),
    hasMore: cursor !== null,
  };
}
