/**
 * The page's one conversation with the server: `hello` first, then frames out and typed signals in.
 *
 * Subscriptions are wishes: they hold over reconnects, each time from where the chat's log is by then. Requests hold
 * only on the socket that they were sent on.
 */
import type {
  Chat,
  ClientFrame,
  Gap,
  Hello,
  Provider,
  RefusedFrame,
  ServerFrame,
  Sync,
  Welcome,
} from '../protocol/generated';
import { Connection } from './connection';
import type { SocketFactory } from './connection';
import { ApiError, NoAnswer } from './errors';
import { asEvents } from './frames';
import type { EventsFrame } from './frames';
import { Signal } from './signal';

export const PROTOCOL = 1;
export const REQUEST_TIMEOUT_MS = 15_000;

/** `outdated`: the server speaks another protocol, the page must be reloaded; no more tries are made. */
export type LinkState = 'connecting' | 'open' | 'waiting' | 'outdated' | 'closed';

/** From where to follow a chat; asked at each (re)connect. */
export type Cursor = () => { readonly after_seq: number; readonly epoch: string | null };

export type SubscribeRefused = { readonly chat_id: string; readonly error: ApiError };

type Request = Exclude<ClientFrame, { type: 'hello' | 'ping' }>;
/** A frame as the caller knows it: the link adds `request_id`. */
export type RequestBody = Request extends infer R
  ? R extends Request
    ? Omit<R, 'request_id'>
    : never
  : never;

type Waiting = {
  readonly resolve: (result: Record<string, unknown>) => void;
  readonly reject: (error: Error) => void;
  readonly timer: ReturnType<typeof setTimeout>;
};

export class Link {
  readonly stateChanged = new Signal<LinkState>();
  readonly welcome = new Signal<Welcome>();
  readonly events = new Signal<EventsFrame>();
  readonly sync = new Signal<Sync>();
  readonly chat = new Signal<Chat>();
  readonly chatDeleted = new Signal<string>();
  readonly providers = new Signal<readonly Provider[]>();
  /** The subscription has ended: load by REST, then `resubscribe`. */
  readonly gap = new Signal<Gap>();
  /** The chat cannot be followed from there: `gone` means load anew, then `resubscribe`. */
  readonly subscribeRefused = new Signal<SubscribeRefused>();

  private current: LinkState = 'closed';
  private readonly connection: Connection;
  private readonly cursors = new Map<string, Cursor>();
  private readonly waiting = new Map<string, Waiting>();
  private lastRequest = 0;

  constructor(
    makeSocket: SocketFactory,
    private readonly client: Hello['client'],
    random: () => number = Math.random,
  ) {
    this.connection = new Connection(makeSocket, random);
    this.connection.trying.connect(() => this.setState('connecting'));
    this.connection.opened.connect(() => this.greet());
    this.connection.frame.connect(frame => this.receive(frame));
    this.connection.lost.connect(() => {
      this.dropRequests();
      this.setState('waiting');
    });
  }

  get state(): LinkState {
    return this.current;
  }

  start(): void {
    this.connection.start();
  }

  stop(): void {
    this.connection.stop();
    this.dropRequests();
    this.setState('closed');
  }

  /** Follows a chat, now and after each reconnect. A second subscription of the same chat replaces the first. */
  subscribe(chatId: string, cursor: Cursor): void {
    this.cursors.set(chatId, cursor);
    this.resubscribe(chatId);
  }

  unsubscribe(chatId: string): void {
    if (this.cursors.delete(chatId) && this.current === 'open') {
      this.connection.send({ type: 'unsubscribe', chat_id: chatId, request_id: null });
    }
  }

  /** Subscribes again from where the cursor stands; nothing when the chat is not followed. */
  resubscribe(chatId: string): void {
    const cursor = this.cursors.get(chatId);
    if (!cursor || this.current !== 'open') {
      return;
    }
    this.request({ type: 'subscribe', chat_id: chatId, ...cursor() }).catch((error: unknown) => {
      // no answer: the reconnect that follows subscribes again
      if (error instanceof ApiError) {
        this.subscribeRefused.emit({ chat_id: chatId, error });
      }
    });
  }

  /** Sends a frame and waits for its `ack`. Rejects with `ApiError` when refused, `NoAnswer` when not answered. */
  request(body: RequestBody, timeoutMs = REQUEST_TIMEOUT_MS): Promise<Record<string, unknown>> {
    this.lastRequest += 1;
    const id = `q${this.lastRequest}`;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => this.settle(id)?.reject(new NoAnswer('The server did not answer in time')),
        timeoutMs,
      );
      this.waiting.set(id, { resolve, reject, timer });
      if (this.current !== 'open' || !this.connection.send({ ...body, request_id: id })) {
        this.settle(id)?.reject(new NoAnswer('Not connected to the server'));
      }
    });
  }

  private greet(): void {
    this.connection.send({
      type: 'hello',
      protocol: PROTOCOL,
      client: this.client,
      request_id: 'hello',
    });
  }

  private receive(frame: ServerFrame): void {
    switch (frame.type) {
      case 'welcome':
        this.onWelcome(frame);
        return;
      case 'events':
        this.events.emit({ ...frame, events: asEvents(frame.events) });
        return;
      case 'sync':
        this.sync.emit(frame);
        return;
      case 'chat':
        this.chat.emit(frame.chat);
        return;
      case 'chat_deleted':
        this.chatDeleted.emit(frame.chat_id);
        return;
      case 'providers':
        this.providers.emit(frame.providers);
        return;
      case 'gap':
        this.gap.emit(frame);
        return;
      case 'ack':
        this.settle(frame.request_id)?.resolve(frame.result);
        return;
      case 'refused':
        this.onRefused(frame);
        return;
      case 'pong':
        return;
      default:
        // a newer server: what we do not know cannot be for us
        return frame satisfies never;
    }
  }

  private onWelcome(frame: Welcome): void {
    if (frame.protocol !== PROTOCOL) {
      this.becomeOutdated();
      return;
    }
    this.setState('open');
    this.welcome.emit(frame);
    for (const chatId of [...this.cursors.keys()]) {
      this.resubscribe(chatId);
    }
  }

  private onRefused(frame: RefusedFrame): void {
    if (frame.request_id === 'hello') {
      if (frame.code === 'unsupported') {
        this.becomeOutdated();
      }
      return;
    }
    const { code, message, details } = frame;
    const waiting = frame.request_id === null ? undefined : this.settle(frame.request_id);
    waiting?.reject(new ApiError(code, message, details));
  }

  private becomeOutdated(): void {
    this.connection.stop();
    this.dropRequests();
    this.setState('outdated');
  }

  private settle(id: string): Waiting | undefined {
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    clearTimeout(waiting?.timer);
    return waiting;
  }

  private dropRequests(): void {
    for (const id of [...this.waiting.keys()]) {
      this.settle(id)?.reject(new NoAnswer('The connection was lost'));
    }
  }

  private setState(state: LinkState): void {
    if (state !== this.current) {
      this.current = state;
      this.stateChanged.emit(state);
    }
  }
}
