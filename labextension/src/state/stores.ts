/**
 * What components may see of the state: snapshots to read with `useSyncExternalStore`, and actions to call.
 *
 * Each readable returns the same reference until it changed. The parts of a chat are separate readables so that
 * streaming text re-renders the thread only, and typing the composer only.
 */
import type {
  Ask,
  AskAnswer,
  Author,
  Chat,
  ChatPatch,
  ErrorBody,
  NewChat,
  ProjectLoad,
  Provider,
  QueueItem,
  Sync,
} from '../protocol/generated';
import type { Turn } from './view';

export interface IReadable<T> {
  /** Calls `listener` after each change; the answer ends that. */
  readonly subscribe: (listener: () => void) => () => void;
  readonly getSnapshot: () => T;
}

/** Why something did not work, for people: `code` of the wire, or `network` when no answer came. */
export type Failure = {
  readonly code: ErrorBody['code'] | 'network';
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
};

export type ConnectionState = 'connecting' | 'open' | 'waiting' | 'outdated' | 'closed';
export type ConnectionView = {
  readonly state: ConnectionState;
  /** True once the first welcome came: only then is "connection lost" news. */
  readonly everOpen: boolean;
  readonly user: Author | null;
};

/** A prompt on its way: shown at the end of the thread until its `user` event (or queue item) arrives. */
export type PendingPrompt = {
  readonly clientId: string;
  readonly text: string;
  /** It waits for the trust decision. */
  readonly held?: boolean;
};

export type ThreadView = {
  readonly state: 'loading' | 'ready' | 'failed' | 'deleted';
  readonly failure: Failure | null;
  readonly turns: readonly Turn[];
  readonly hasOlder: boolean;
  readonly loadingOlder: boolean;
  readonly pending: PendingPrompt | null;
};

/** What is going on now; from `sync` alone. */
export type RunView = {
  /** False until the first `sync` of this subscription. */
  readonly known: boolean;
  readonly running: boolean;
  /** The run belongs to another server on the same store: read only here. */
  readonly remote: boolean;
  readonly runId: string | null;
  /** `Turn.key` of the running turn, else null. */
  readonly runningKey: string | null;
  readonly phase: Sync['phase'];
  readonly asks: readonly Ask[];
  readonly queue: readonly QueueItem[];
  readonly queuePaused: boolean;
  /** 'asked' after Stop was pressed here, 'force' after the second press; null again when the run ended. */
  readonly stopping: null | 'asked' | 'force';
  /** Local clock (ms since 1970) of the last event or phase change: for "no output for 1 m 30 s". */
  readonly lastOutputAt: number | null;
};

/** The project would make the agent load these: decide, then the prompt goes on. */
export type TrustQuestion = {
  readonly path: string;
  readonly digest: string;
  readonly loads: readonly ProjectLoad[];
  /** A decision is on its way. */
  readonly deciding: boolean;
  readonly failure: Failure | null;
};

export type DraftView = {
  readonly text: string;
  readonly sending: boolean;
  /** Why the last prompt was refused; its text is back in `text`. */
  readonly refusal: Failure | null;
  readonly trust: TrustQuestion | null;
};

/** Open or closed, by key of a part, group or turn; kept when the element leaves the page. */
export interface IFolds extends IReadable<ReadonlyMap<string, boolean>> {
  isOpen(key: string, byDefault: boolean): boolean;
  set(key: string, open: boolean): void;
}

/** A block of a turn, and how far its top is from the upper edge of the thread, px. */
export type ReadingPlace = { readonly turn: string; readonly block: number; readonly top: number };

/** Where a person reads while the end is not followed; kept while the chat is shown nowhere. */
export interface IReading {
  /** Null: at the end. */
  place: ReadingPlace | null;
}

export type AnswerOutcome =
  | { readonly ok: true }
  /** `already_resolved` means that somebody else was first: `sync` closes the card. */
  | { readonly ok: false; readonly failure: Failure };

export interface IChatStore {
  readonly id: string;
  /** Null until loaded. */
  readonly chat: IReadable<Chat | null>;
  readonly thread: IReadable<ThreadView>;
  readonly run: IReadable<RunView>;
  readonly draft: IReadable<DraftView>;
  readonly folds: IFolds;
  readonly reading: IReading;
  /** Starts to load and follow; counted: the last release stops following. Call in an effect. */
  open(): () => void;
  reload(): Promise<void>;
  /** Loads the next older turns; does nothing while loading or when there are none. */
  loadOlder(): Promise<void>;
  setDraft(text: string): void;
  /** Sends the draft (or `text`). On refusal the text is back in the draft and `draft.refusal` says why. */
  send(text?: string): Promise<void>;
  dismissRefusal(): void;
  decideTrust(trusted: boolean): Promise<void>;
  /** Closes the trust question without a decision: the text goes back into the draft. */
  cancelTrust(): void;
  /** Stop; a second call while stopping forces. */
  cancel(): Promise<Failure | null>;
  answer(
    askId: string,
    answer: Partial<AskAnswer> & Pick<AskAnswer, 'decision'>,
  ): Promise<AnswerOutcome>;
  /** Changes settings of the chat; a raise of mode or permission goes by the cookie session. */
  patch(change: Partial<ChatPatch>): Promise<Failure | null>;
  /** Tells the server that all up to here was seen; cheap to call often. */
  markRead(): void;
}

export type ListFilter = 'all' | 'running' | 'needs_you' | 'unread' | 'archived';
export type ListDay = { readonly day: string; readonly chats: readonly Chat[] };
export type ListGroup = {
  readonly key: string;
  /** `pinned` has all pinned chats; `loose` those without a project. */
  readonly kind: 'pinned' | 'project' | 'loose';
  /** Relative to the server root; `""` is the root itself; null unless kind is project. */
  readonly project: string | null;
  /** `day` is local, YYYY-MM-DD, newest first. */
  readonly days: readonly ListDay[];
};
export type ListView = {
  readonly state: 'loading' | 'ready' | 'failed';
  readonly failure: Failure | null;
  readonly filter: ListFilter;
  readonly query: string;
  readonly groups: readonly ListGroup[];
  /** Rows that pass filter and query. */
  readonly shown: number;
  readonly total: number;
  readonly counts: { readonly running: number; readonly needsYou: number; readonly unread: number };
  readonly hasMore: boolean;
  /** Chats of folders outside this server root. */
  readonly elsewhere: number;
};

export interface IListStore extends IReadable<ListView> {
  load(): Promise<void>;
  loadMore(): Promise<void>;
  setFilter(filter: ListFilter): void;
  setQuery(query: string): void;
  get(id: string): Chat | undefined;
  create(settings: Partial<NewChat>): Promise<Chat>;
  patch(id: string, change: Partial<ChatPatch>): Promise<Chat>;
  remove(id: string): Promise<void>;
  restore(id: string): Promise<void>;
  markUnread(id: string): Promise<void>;
}

export type ProvidersView = {
  readonly state: 'idle' | 'loading' | 'ready' | 'failed';
  readonly failure: Failure | null;
  readonly providers: readonly Provider[];
};

export interface IProvidersStore extends IReadable<ProvidersView> {
  /** Asks the server once (which starts its probes); later calls do nothing. */
  load(): Promise<void>;
  /** Probes again. */
  refresh(): Promise<void>;
  get(id: string | null): Provider | undefined;
}

/** One per page: owns the connection and the stores. Nothing is opened before `start()`. */
export interface ISession {
  readonly connection: IReadable<ConnectionView>;
  readonly list: IListStore;
  readonly providers: IProvidersStore;
  /** Idempotent: opens the socket, loads the list and asks which agents there are. Call when the first view becomes visible. */
  start(): void;
  /** The store of a chat: the same object as long as anyone has it open. */
  chat(id: string): IChatStore;
  dispose(): void;
}
