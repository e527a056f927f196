/** The server's side of REST and socket in memory: real `AgentChatApi` and `Link` in front, the test behind. */
import { Link } from '../client/link';
import { AgentChatApi } from '../client/rest';
import type { HttpRequest } from '../client/rest';
import type { Chat, ChatEvent, Draft, DraftUpdate, SearchHit } from '../protocol/generated';
import { FakeSockets } from './fake_socket';

type Answer = Response | Promise<Response>;

export function refusal(code: string, status: number, details: object = {}): Response {
  return Response.json({ error: { code, message: `refused: ${code}`, details } }, { status });
}

export function chatRow(id: string, said: Partial<Chat> = {}): Chat {
  return {
    id,
    project: '',
    title: `Chat ${id}`,
    provider: 'tour',
    model: 'guide',
    effort: null,
    service_tier: null,
    mode: 'code',
    permission: 'ask',
    effective_permission: 'ask',
    skills: [],
    sessions: {},
    fork_pending: [],
    parent: null,
    created: '2026-01-01T00:00:00.000Z',
    updated: '2026-01-01T00:00:00.000Z',
    last_seq: 0,
    unread: false,
    state: 'idle',
    attention: null,
    wants: null,
    queued: 0,
    queue_paused: false,
    owner: 'owner',
    usage: { input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cost_usd: null },
    archived: false,
    pinned: false,
    ...said,
  };
}

export class FakeServer {
  readonly sockets = new FakeSockets();
  readonly requests: HttpRequest[] = [];
  readonly api = new AgentChatApi(async request => {
    this.requests.push(request);
    return this.route(request);
  });
  readonly link = new Link(this.sockets.make, 'panel', () => 1);

  epoch = 'e1';
  /** The log of the one chat. */
  events: ChatEvent[] = [];
  rows: Chat[] = [];
  /** The person's draft in the one chat; null: drafts are not answered. */
  draft: Draft | null = null;
  hits: SearchHit[] = [];
  /** When whatever is in the trash came there. */
  deletedAt = new Date().toISOString();
  private readonly trash = new Map<string, Chat>();
  /** Answers instead of the usual one, by method and path without its query: `POST chats/c1/prompts`. */
  readonly answers = new Map<string, () => Answer>();

  requestsTo(place: string): HttpRequest[] {
    return this.requests.filter(request => placeOf(request) === place);
  }

  connect(): void {
    this.link.start();
    this.sockets.last.welcome(this.epoch);
  }

  /** Sends events as one frame, as the server does when they are stored. */
  publish(chat_id: string, events: readonly ChatEvent[]): void {
    const after = this.events.at(-1)?.seq ?? 0;
    this.events.push(...events);
    const upto = this.events.at(-1)?.seq ?? 0;
    this.sockets.last.say({ type: 'events', chat_id, after, upto, events });
  }

  sync(chat_id: string, said: object = {}): void {
    this.sockets.last.say({
      type: 'sync',
      chat_id,
      running: false,
      remote: false,
      run_id: null,
      phase: 'idle',
      last_seq: 0,
      epoch: this.epoch,
      queue: [],
      queue_paused: false,
      queue_pause_reason: null,
      may_steer: false,
      holder: null,
      asks: [],
      ...said,
    });
  }

  private route(request: HttpRequest): Answer {
    const place = placeOf(request);
    const answer = this.answers.get(place);
    if (answer) {
      return answer();
    }
    const query = new URLSearchParams(request.path.split('?')[1] ?? '');
    if (place === 'GET chats') {
      const archived = query.get('archived') === 'true';
      const chats = this.rows.filter(row => row.archived === archived);
      return Response.json({ chats, next_cursor: null, elsewhere: 0 });
    }
    if (/^GET chats\/[^/]+\/events$/.test(place)) {
      return Response.json(this.page(query));
    }
    if (place === 'GET providers') {
      return Response.json({ providers: [] });
    }
    if (/^(GET|PUT) chats\/[^/]+\/draft$/.test(place) && this.draft) {
      return this.answerDraft(this.draft, request.body as DraftUpdate | undefined);
    }
    if (place === 'GET search') {
      const limit = Number(query.get('limit'));
      return Response.json({ hits: this.hits.slice(0, limit), more: this.hits.length > limit });
    }
    if (place === 'GET trash') {
      const chats = [...this.trash.values()].reverse();
      const deleted = this.deletedAt;
      return Response.json({ chats: chats.map(row => ({ ...row, deleted })), days: 7 });
    }
    return this.answerRow(place);
  }

  private answerDraft(draft: Draft, update: DraftUpdate | undefined): Response {
    if (update && update.revision !== draft.revision) {
      return refusal('stale', 409, { revision: draft.revision });
    }
    this.draft = update ? { ...update, revision: draft.revision + 1 } : draft;
    return Response.json(this.draft);
  }

  private answerRow(place: string): Response {
    const [, verb, id = '', rest] = /^(\w+) chats\/([^/]+)(\/restore)?$/.exec(place) ?? [];
    const row = this.rows.find(known => known.id === id);
    const deleted = this.trash.get(id);
    if (verb === 'DELETE' && row) {
      this.rows = this.rows.filter(known => known !== row);
      this.trash.set(id, row);
      return Response.json({}, { status: 202 });
    }
    if (rest && deleted) {
      this.trash.delete(id);
      this.rows.push(deleted);
      return Response.json(deleted);
    }
    return row ? Response.json(row) : Response.json({});
  }

  private page(query: URLSearchParams) {
    const number = (name: string) => Number(query.get(name) ?? NaN);
    const before = query.has('before') ? number('before') : Infinity;
    const after = query.has('after') ? number('after') : 0;
    let events = this.events.filter(({ seq }) => seq > after && seq < before);
    let has_more = false;
    if (query.has('turns')) {
      const starts = events.filter(event => event.type === 'user').map(({ seq }) => seq);
      const first = starts.at(-number('turns')) ?? 0;
      has_more = events.some(({ seq }) => seq < first);
      events = events.filter(({ seq }) => seq >= first);
    }
    const first_seq = events[0]?.seq ?? 0;
    return { events, first_seq, last_seq: events.at(-1)?.seq ?? 0, epoch: this.epoch, has_more };
  }
}

function placeOf({ method, path }: HttpRequest): string {
  return `${method} ${path.split('?')[0] ?? ''}`;
}
