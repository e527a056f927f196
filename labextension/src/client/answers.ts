/** Bodies of REST answers and requests that the generated types do not name. */
import type {
  Accepted,
  Ask,
  AskAnswer,
  Author,
  Chat,
  ChatEvent,
  ChatPatch,
  NewChat,
  Project,
  Prompt,
  Provider,
} from '../protocol/generated';

export type Status = {
  readonly version: string;
  readonly protocol: number;
  readonly epoch: string;
  readonly user: Author;
  readonly server_root: string;
  readonly policies: Readonly<Record<string, unknown>>;
  readonly features: Readonly<Record<string, boolean>>;
  /** `notice`: what is wrong with the store, for people; nothing can be changed while it is not writable. */
  readonly store?: { readonly writable: boolean; readonly notice: string | null };
};

export type ChatsQuery = {
  readonly project?: string;
  readonly state?: Chat['state'];
  readonly archived?: boolean;
  readonly q?: string;
  readonly limit?: number;
  readonly cursor?: string;
};

export type ChatsPage = {
  readonly chats: readonly Chat[];
  readonly next_cursor: string | null;
  readonly elsewhere: number;
};

export type EventsQuery = {
  readonly after?: number;
  readonly before?: number;
  readonly limit?: number;
  /** Whole turns, backwards. */
  readonly turns?: number;
};

export type SearchQuery = {
  readonly q: string;
  readonly limit?: number;
};

export type EventsPage = {
  readonly events: readonly ChatEvent[];
  readonly first_seq: number;
  readonly last_seq: number;
  readonly epoch: string;
  readonly has_more: boolean;
};

/** A prompt was taken: it runs, waits in the queue, or was put into the running turn. */
export type PromptAnswer = Partial<Accepted>;

export type PromptBody = Pick<Prompt, 'client_id' | 'text'> & Partial<Prompt>;
export type AnswerBody = Pick<AskAnswer, 'decision'> & Partial<AskAnswer>;
export type NewChatBody = Partial<NewChat>;
export type PatchBody = Partial<ChatPatch>;

export type ProvidersAnswer = { readonly providers: readonly Provider[] };
export type ProjectsAnswer = { readonly projects: readonly Project[] };
export type AsksAnswer = { readonly asks: readonly Ask[] };
