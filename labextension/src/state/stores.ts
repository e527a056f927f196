/**
 * What components may see of the state: snapshots to read with `useSyncExternalStore`, and actions to call.
 *
 * Each readable returns the same reference until it changed. The parts of a chat are separate readables so that
 * streaming text re-renders the thread only, and typing the composer only.
 */
import type {
  DeletedChat as TrashedChat,
  Ask,
  AskAnswer,
  Attachment,
  Author,
  Chat,
  ChatPatch,
  ErrorBody,
  NewChat,
  ProjectLoad,
  Prompt,
  Provider,
  QueueItem,
  RewindRequest,
  RewindResult,
  SearchHit,
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

/** A prompt on its way: shown until its `user` event (or queue item) arrives. */
export type PendingPrompt = {
  readonly clientId: string;
  readonly text: string;
  readonly attachments: readonly Attachment[];
  /** Where it will show up: at the end of the thread, or of the queue. */
  readonly place: 'thread' | 'queue';
  /** It waits for the trust decision. */
  readonly held?: boolean;
};

export type ThreadView = {
  readonly state: 'loading' | 'ready' | 'failed' | 'deleted';
  readonly failure: Failure | null;
  readonly turns: readonly Turn[];
  readonly hasOlder: boolean;
  readonly loadingOlder: boolean;
  /** In the order in which they were sent. */
  readonly pending: readonly PendingPrompt[];
};

/** What is going on now; from `sync` alone. */
export type RunView = {
  /** False until the first `sync` of this subscription. */
  readonly known: boolean;
  readonly running: boolean;
  /** The run belongs to another server on the same store: read only here. */
  readonly remote: boolean;
  /** Who holds it then, for people. */
  readonly holder: string | null;
  /** The running agent takes messages into its turn now. */
  readonly maySteer: boolean;
  readonly runId: string | null;
  /** `Turn.key` of the running turn, else null. */
  readonly runningKey: string | null;
  readonly phase: Sync['phase'];
  readonly asks: readonly Ask[];
  readonly queue: readonly QueueItem[];
  readonly queuePaused: boolean;
  /** Null unless paused. */
  readonly pauseReason: Sync['queue_pause_reason'];
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

/** What stands in the message field. */
export type DraftContent = {
  readonly text: string;
  readonly attachments: readonly Attachment[];
};

export type DraftView = DraftContent & {
  /** What left the field and was not taken yet: copies that outlive the page keep it before `text`. */
  readonly unsent: string;
  /** At least one prompt is on its way; others may be sent meanwhile. */
  readonly sending: boolean;
  /** Why a prompt was refused; its text is back in `text`. */
  readonly refusal: Failure | null;
  readonly trust: TrustQuestion | null;
};

export type SendOptions = {
  /** `auto`: run now, else queue; `steer`: into the running turn, or refused. */
  readonly delivery?: Prompt['delivery'];
  /** Of a `text` that is not the draft. */
  readonly attachments?: readonly Attachment[];
};

/** Changes to the queue; each answers why it was not made. What the queue is then comes by `sync`. */
export interface IQueueActions {
  edit(id: string, text: string): Promise<Failure | null>;
  /** Moves an item to another place, counted from 0. */
  move(id: string, to: number): Promise<Failure | null>;
  remove(id: string): Promise<Failure | null>;
  pause(): Promise<Failure | null>;
  resume(): Promise<Failure | null>;
}

export type RewindOutcome =
  | { readonly ok: true; readonly result: RewindResult }
  | { readonly ok: false; readonly failure: Failure };

export type RewindView = {
  /** What stood in the message field before the rewound prompt came back; null when nothing did. */
  readonly saved: DraftContent | null;
  /** The last rewind of this page; its cut may have been undone or overtaken, the thread says so. */
  readonly last: RewindResult | null;
  readonly undoing: boolean;
  /** Why the rewind was not undone. */
  readonly failure: Failure | null;
};

export interface IRewind extends IReadable<RewindView> {
  /** What a rewind to this `user` event would do to files, conversation and queue. */
  preview(seq: number): Promise<RewindOutcome>;
  /** Cuts; the prompt returns to the draft, and what stood there is `saved`. */
  rewind(
    seq: number,
    files: RewindRequest['files'],
    overwrite: readonly string[],
  ): Promise<RewindOutcome>;
  /** Takes the last rewind back; the draft becomes what it was, unless it was changed since. */
  undo(): Promise<void>;
  /** Puts the saved draft behind what stands in the message field. */
  insertSaved(): void;
  dismissSaved(): void;
  /** From before a reload of the page; ignored where there is a saved draft. */
  keep(saved: DraftContent): void;
}

/** A draft of the server: what one here began from. */
export type DraftBase = { readonly revision: number; readonly text: string };

/** What a copy of a draft in the browser holds. */
export type KeptDraft = { readonly text: string; readonly base: DraftBase };

export interface IDraftSync {
  /** What was typed on another device while something else was typed here; null when there is no such thing. */
  readonly offer: IReadable<DraftContent | null>;
  /** What the server has, as far as this page knows. */
  readonly saved: IReadable<DraftBase>;
  /** Brings back what the browser kept, then keeps the server's draft up to date; the answer ends that. Counted. */
  follow(kept: KeptDraft): () => void;
  /** What the browser should keep now. */
  kept(): KeptDraft;
  /** Sends what was not sent yet; `last`: the page may be closed meanwhile. */
  flush(last?: boolean): void;
  /** Looks whether the draft was changed elsewhere. */
  refresh(): Promise<void>;
  /** Takes the other draft; what stood here is put aside. */
  useOther(): void;
  keepMine(): void;
}

/** An event to be shown. */
export type JumpTarget = {
  /** Place of its part in the thread. */
  readonly seq: number;
  /** What was looked for, as it is written there; "" when only the place is known. */
  readonly match: string;
  /** Another one with each jump. */
  readonly count: number;
};

export interface IJump extends IReadable<JumpTarget | null> {
  /** Shows the event with this seq once the chat is loaded; loads what is between it and the end. */
  to(seq: number, match?: string): Promise<void>;
  /** It was shown. */
  done(): void;
}

export type ForkOutcome =
  { readonly ok: true; readonly chat: Chat } | { readonly ok: false; readonly failure: Failure };

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
  readonly queue: IQueueActions;
  readonly rewinds: IRewind;
  readonly draftSync: IDraftSync;
  readonly jump: IJump;
  /** Starts to load and follow; counted: the last release stops following. Call in an effect. */
  open(): () => void;
  reload(): Promise<void>;
  /** Loads the next older turns; does nothing while loading or when there are none. */
  loadOlder(): Promise<void>;
  setDraft(text: string): void;
  removeAttachment(id: string): void;
  /**
   * Sends the draft (or `text`), after those that are on their way. On refusal the text is back in the draft and
   * `draft.refusal` says why.
   */
  send(text?: string, options?: SendOptions): Promise<void>;
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
  /** A new chat with the events up to `afterSeq`, all when null. */
  fork(afterSeq: number | null): Promise<ForkOutcome>;
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
  /** Deleted here, the oldest first; each can be brought back. */
  readonly deleted: readonly DeletedChat[];
};

export type DeletedChat = {
  readonly id: string;
  readonly title: string;
  /** Why it is still in the trash; null before anybody asked. */
  readonly failure: Failure | null;
};

export interface IListStore extends IReadable<ListView> {
  load(): Promise<void>;
  loadMore(): Promise<void>;
  setFilter(filter: ListFilter): void;
  setQuery(query: string): void;
  get(id: string): Chat | undefined;
  /** Every row that is loaded, whatever the filter; newest activity first. */
  all(): readonly Chat[];
  create(settings: Partial<NewChat>): Promise<Chat>;
  patch(id: string, change: Partial<ChatPatch>): Promise<Chat>;
  /** The row goes at once, and comes back if the server refuses. */
  remove(id: string): Promise<void>;
  /** Takes it out of the trash; never throws: `deleted` says what went wrong. */
  restore(id: string): Promise<void>;
  /** It is not offered any more to bring this chat back. */
  forgetDeleted(id: string): void;
  markUnread(id: string): Promise<void>;
  markRead(id: string): Promise<void>;
}

export type TrashView = {
  /** `idle`: nobody has looked yet. */
  readonly state: 'idle' | 'loading' | 'ready' | 'failed';
  /** Why it could not be read, or a chat not be brought back. */
  readonly failure: Failure | null;
  /** Latest first. */
  readonly chats: readonly TrashedChat[];
  /** How long a chat stays in it. */
  readonly days: number;
  /** The last one that was brought back here. */
  readonly restored: TrashedChat | null;
};

export interface ITrash extends IReadable<TrashView> {
  /** Looks anew; what was there stays until the answer comes. */
  load(): Promise<void>;
  /** True when it is back; never throws: `failure` says what went wrong. */
  restore(id: string): Promise<boolean>;
  dismissFailure(): void;
}

export type SearchView = {
  readonly query: string;
  /** `idle`: the query is too short to look for. */
  readonly state: 'idle' | 'searching' | 'ready' | 'failed';
  readonly failure: Failure | null;
  /** While searching those of the query before. */
  readonly hits: readonly SearchHit[];
  /** There are others. */
  readonly more: boolean;
};

export interface ISearch extends IReadable<SearchView> {
  setQuery(query: string): void;
  /** Asks for as many hits as the server gives; does nothing when those are there. */
  showMore(): Promise<void>;
  retry(): Promise<void>;
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
  readonly search: ISearch;
  readonly trash: ITrash;
  /** Idempotent: opens the socket, loads the list and asks which agents there are. Call when the first view becomes visible. */
  start(): void;
  /** The store of a chat: the same object as long as anyone has it open. */
  chat(id: string): IChatStore;
  dispose(): void;
}
