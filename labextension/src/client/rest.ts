/**
 * The REST calls, typed. Every failure is an `ApiError` (refused) or `NoAnswer` (nothing came back).
 *
 * Approvals, raises and trust are `byPerson`: they go without the token, so that only the cookie of a browser
 * session counts. An agent that got hold of a token cannot approve itself that way (security §5).
 */
import type {
  Chat,
  Draft,
  DraftUpdate,
  Queue,
  ReadMark,
  RewindRequest,
  RewindResult,
  SearchResult,
  TrashList,
  Trust,
  TrustDecision,
} from '../protocol/generated';
import type {
  AnswerBody,
  AsksAnswer,
  ChatsPage,
  ChatsQuery,
  EventsPage,
  EventsQuery,
  NewChatBody,
  PatchBody,
  ProjectsAnswer,
  PromptAnswer,
  PromptBody,
  ProvidersAnswer,
  SearchQuery,
  Status,
} from './answers';
import { ApiError, NoAnswer, refusalOf } from './errors';
import { asEvents } from './frames';

export type HttpRequest = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Below `api/`, encoded, with its query. */
  readonly path: string;
  readonly body?: unknown;
  /** Send without the token: only the cookie session of a person counts. */
  readonly byPerson: boolean;
  /** Goes on when the page is closed meanwhile. */
  readonly keepalive?: boolean;
  /** The answer is not wanted any more. */
  readonly signal?: AbortSignal;
};

type SendExtras = Pick<HttpRequest, 'keepalive' | 'signal'>;

/** Sends one request; rejects when no answer came within its deadline. */
export type Http = (request: HttpRequest) => Promise<Response>;

const DOT_SEGMENT = /(^|\/)\.{1,2}(\/|\?|$)/;

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export class AgentChatApi {
  constructor(private readonly http: Http) {}

  status(): Promise<Status> {
    return this.get('status');
  }

  /** From the server's cache; the first call starts its probes, `refresh` starts them again. */
  providers(refresh = false): Promise<ProvidersAnswer> {
    return this.get('providers', { refresh: refresh ? 1 : undefined });
  }

  projects(): Promise<ProjectsAnswer> {
    return this.get('projects');
  }

  /** What the project would make agents load, and whether that was decided on. */
  trust(path: string): Promise<Trust> {
    return this.get('projects/trust', { path });
  }

  /** Refused as `stale` when the project would load something else by now. */
  decideTrust(path: string, decision: TrustDecision): Promise<Trust> {
    const query = queryOf({ path });
    return this.send('POST', `projects/trust${query}`, decision, decision.trusted);
  }

  chats(query: ChatsQuery = {}): Promise<ChatsPage> {
    return this.get('chats', query);
  }

  /** `byPerson` when it starts above code + ask. */
  createChat(settings: NewChatBody, byPerson = false): Promise<Chat> {
    return this.send('POST', 'chats', settings, byPerson);
  }

  chat(id: string): Promise<Chat> {
    return this.get(chatPath(id));
  }

  /** `byPerson` when it raises mode or permission. */
  patchChat(id: string, change: PatchBody, byPerson = false): Promise<Chat> {
    return this.send('PATCH', chatPath(id), change, byPerson);
  }

  async deleteChat(id: string): Promise<void> {
    await this.send('DELETE', chatPath(id));
  }

  /** What can be brought back, and for how long. */
  trash(): Promise<TrashList> {
    return this.get('trash');
  }

  /** Out of the trash, as it was. */
  restoreChat(id: string): Promise<Chat> {
    return this.send('POST', chatPath(id, 'restore'), {});
  }

  async events(id: string, query: EventsQuery): Promise<EventsPage> {
    const page = await this.get<EventsPage>(chatPath(id, 'events'), query);
    return { ...page, events: asEvents(page.events) };
  }

  /** Safe to repeat with the same `client_id`: the first answer comes again, nothing runs twice. */
  prompt(id: string, prompt: PromptBody): Promise<PromptAnswer> {
    return this.send('POST', chatPath(id, 'prompts'), prompt);
  }

  async cancel(id: string): Promise<void> {
    await this.send('POST', chatPath(id, 'cancel'), {});
  }

  asks(id: string): Promise<AsksAnswer> {
    return this.get(chatPath(id, 'asks'));
  }

  /** The first answer wins; later ones are refused as `already_resolved`. */
  async answer(id: string, askId: string, answer: AnswerBody): Promise<void> {
    const path = chatPath(id, 'asks', askId);
    await this.send('POST', path, answer, answer.decision !== 'deny');
  }

  async read(id: string, mark: Partial<ReadMark>): Promise<void> {
    await this.send('POST', chatPath(id, 'read'), mark);
  }

  /** The person's own draft; revision 0 when nothing was kept. */
  draft(id: string): Promise<Draft> {
    return this.get(chatPath(id, 'draft'));
  }

  /** Refused as `stale` when it was changed elsewhere. `last`: the page may be closed meanwhile. */
  saveDraft(id: string, draft: DraftUpdate, last = false): Promise<Draft> {
    return this.send('PUT', chatPath(id, 'draft'), draft, false, { keepalive: last });
  }

  /** What was said in chats, the latest first; rejects with `NoAnswer` when it was aborted. */
  search(query: SearchQuery, signal: AbortSignal): Promise<SearchResult> {
    return this.send('GET', `search${queryOf(query)}`, undefined, false, { signal });
  }

  async editQueued(id: string, item: string, text: string): Promise<void> {
    await this.send('PATCH', chatPath(id, 'queue', item), { text });
  }

  /** Races safely with dispatch: `not_found` when it was sent. */
  async removeQueued(id: string, item: string): Promise<void> {
    await this.send('DELETE', chatPath(id, 'queue', item));
  }

  /** Refused as `stale` when these are not exactly the items that wait. */
  async orderQueue(id: string, order: readonly string[]): Promise<void> {
    await this.send('PUT', chatPath(id, 'queue'), { order });
  }

  async pauseQueue(id: string, paused: boolean): Promise<void> {
    await this.send<Queue>('POST', chatPath(id, 'queue', paused ? 'pause' : 'resume'), {});
  }

  /** Refused as `busy` while the agent works; a dry run changes nothing. */
  rewind(id: string, request: Partial<RewindRequest>): Promise<RewindResult> {
    return this.send('POST', chatPath(id, 'rewind'), request);
  }

  undoRewind(id: string): Promise<RewindResult> {
    return this.send('POST', chatPath(id, 'rewind', 'undo'), {});
  }

  /** A new chat with the events up to `afterSeq`, all when null. */
  fork(id: string, afterSeq: number | null): Promise<Chat> {
    return this.send('POST', chatPath(id, 'fork'), { after_seq: afterSeq });
  }

  private get<T>(path: string, query: Query = {}): Promise<T> {
    return this.send('GET', path + queryOf(query));
  }

  private async send<T>(
    method: HttpRequest['method'],
    path: string,
    body?: unknown,
    byPerson = false,
    extras: SendExtras = {},
  ): Promise<T> {
    if (DOT_SEGMENT.test(path)) {
      // an id such as `..` would reach another route
      throw new ApiError('not_found', 'There is nothing under this id');
    }
    let response: Response;
    try {
      response = await this.http({ method, path, body, byPerson, ...extras });
    } catch (error) {
      throw new NoAnswer(error instanceof Error ? error.message : String(error));
    }
    if (!response.ok) {
      throw await refusalOf(response);
    }
    if (response.status === 204) {
      return undefined as T;
    }
    try {
      return (await response.json()) as T;
    } catch {
      throw new NoAnswer('The answer of the server could not be read');
    }
  }
}

function chatPath(...segments: string[]): string {
  return ['chats', ...segments.map(encodeURIComponent)].join('/');
}

function queryOf(query: Query): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
}
