/** One per page: owns the connection and the stores, and brings frames to the stores that they are for. */
import type { Link } from '../client/link';
import type { AgentChatApi } from '../client/rest';
import type { Chat } from '../protocol/generated';
import { ChatStore } from './chat_store';
import { ListStore } from './list_store';
import { ProvidersStore } from './providers_store';
import { nextFrame } from './schedule';
import { SearchStore } from './search_store';
import { TrashStore } from './trash_store';
import type { Schedule } from './schedule';
import type { ConnectionView, IChatStore, IReadable, ISession } from './stores';
import { change, Value } from './value';

/** Closed chats whose logs stay in memory, so that going back to them is instant. */
const KEPT_LOGS = 6;

export type SessionClient = { readonly api: AgentChatApi; readonly link: Link };

export type SessionOptions = {
  readonly schedule?: Schedule;
  /** ms since 1970. */
  readonly now?: () => number;
  readonly newId?: () => string;
};

export class Session implements ISession {
  readonly list: ListStore;
  readonly providers: ProvidersStore;
  readonly search: SearchStore;
  readonly trash: TrashStore;
  readonly connection: IReadable<ConnectionView>;

  private readonly connectionView = new Value<ConnectionView>({
    state: 'closed',
    everOpen: false,
    user: null,
  });
  private readonly chats = new Map<string, ChatStore>();
  /** Closed chats with a log, the latest last. */
  private closed: ChatStore[] = [];
  private readonly ends: (() => void)[] = [];
  private started = false;

  constructor(
    private readonly client: SessionClient,
    private readonly options: SessionOptions = {},
  ) {
    this.connection = this.connectionView;
    this.list = new ListStore(client.api, chat => this.chats.get(chat.id)?.setRow(chat));
    this.providers = new ProvidersStore(client.api);
    this.search = new SearchStore(client.api);
    this.trash = new TrashStore(client.api, chat => this.onRow(chat));
    this.listen();
  }

  start(): void {
    if (!this.started) {
      this.started = true;
      this.client.link.start();
      void this.list.load();
      void this.providers.load();
    }
  }

  chat(id: string): IChatStore {
    const known = this.chats.get(id);
    if (known) {
      return known;
    }
    const { api, link } = this.client;
    const made = new ChatStore(id, {
      api,
      link,
      schedule: this.options.schedule ?? nextFrame,
      now: this.options.now ?? Date.now,
      newId: this.options.newId ?? randomId,
      row: chatId => this.list.get(chatId),
      onRow: chat => this.list.take(chat),
      onClosed: store => this.keepClosed(store),
    });
    this.chats.set(id, made);
    return made;
  }

  dispose(): void {
    this.ends.forEach(end => end());
    this.client.link.stop();
    this.search.dispose();
    this.chats.forEach(chat => chat.dispose());
    this.chats.clear();
  }

  private listen(): void {
    const { link } = this.client;
    this.ends.push(
      link.stateChanged.connect(state => {
        change(this.connectionView, { state });
        if (state !== 'open') {
          this.chats.forEach(chat => chat.onDisconnected());
        }
      }),
      link.welcome.connect(({ user }) => {
        change(this.connectionView, { everOpen: true, user });
        // rows may have changed while nobody told us
        void this.list.load();
        this.chats.forEach(chat => chat.onConnected());
      }),
      link.events.connect(frame => this.chats.get(frame.chat_id)?.receive(frame)),
      link.sync.connect(frame => this.chats.get(frame.chat_id)?.receive(frame)),
      link.gap.connect(frame => this.chats.get(frame.chat_id)?.onGap(frame.last_seq)),
      link.subscribeRefused.connect(({ chat_id, error }) =>
        this.chats.get(chat_id)?.onSubscribeRefused(error),
      ),
      link.chat.connect(chat => this.onRow(chat)),
      link.chatDeleted.connect(id => {
        this.list.drop(id);
        this.trash.onDeleted();
        this.chats.get(id)?.markDeleted();
      }),
      link.providers.connect(providers => this.providers.take(providers)),
    );
  }

  private onRow(chat: Chat): void {
    this.trash.drop(chat.id);
    this.list.take(chat);
    this.chats.get(chat.id)?.setRow(chat);
  }

  private keepClosed(store: ChatStore): void {
    this.closed = [...this.closed.filter(other => other !== store), store];
    while (this.closed.length > KEPT_LOGS) {
      this.closed.shift()?.forget();
    }
  }
}

/** `crypto.randomUUID` is missing on plain http, `getRandomValues` is not. */
function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('');
}
