/**
 * One websocket that comes back: opened again after every loss, found dead by silence, woken by the page.
 *
 * A dead peer is often seen by silence only (sleep, a pulled cable: `close` never comes), so we ping and count.
 */
import type { ClientFrame, ServerFrame } from '../protocol/generated';
import { reconnectDelay } from './backoff';
import { parseFrame } from './frames';
import { Signal } from './signal';
import { isLookedAt, watchWake } from './wake';

/** The part of a browser's WebSocket that is used. */
export interface ISocket {
  onopen: ((event: never) => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  send(data: string): void;
  close(): void;
}

/** `failedBefore`: the last one never opened, so try another way to sign in if there is one. May throw. */
export type SocketFactory = (failedBefore: boolean) => ISocket;

export const OPEN_TIMEOUT_MS = 10_000;
const LOOKED_AT_MS = 4_000;
export const PING_MS = 5_000;
/** Silence after which the socket is given up. */
export const DEAD_MS = 12_000;
/** The same after a wake-up, when a ping was sent at once. */
export const WAKE_DEAD_MS = 4_000;

type Timer = ReturnType<typeof setTimeout>;

export class Connection {
  /** The socket is open; nothing has been received. */
  readonly opened = new Signal<void>();
  readonly frame = new Signal<ServerFrame>();
  /** It is gone, or never opened; the next try comes by itself unless stopped. */
  readonly lost = new Signal<void>();
  /** A try begins. */
  readonly trying = new Signal<void>();

  private socket: ISocket | null = null;
  private isOpen = false;
  private everOpened = true;
  private attempt = 0;
  private retry: Timer | undefined;
  private silence: Timer | undefined;
  private ping: ReturnType<typeof setInterval> | undefined;
  private endWake: (() => void) | null = null;

  constructor(
    private readonly makeSocket: SocketFactory,
    private readonly random: () => number = Math.random,
  ) {}

  /** Connects and stays connected until `stop`. */
  start(): void {
    if (this.endWake === null) {
      this.endWake = watchWake(() => this.wake());
      this.connect();
    }
  }

  stop(): void {
    this.endWake?.();
    this.endWake = null;
    clearTimeout(this.retry);
    this.drop();
  }

  /** False when there is no open socket: nothing was sent. */
  send(frame: ClientFrame): boolean {
    if (this.socket === null || !this.isOpen) {
      return false;
    }
    try {
      this.socket.send(JSON.stringify(frame));
      return true;
    } catch {
      return false;
    }
  }

  /** Now is a good moment: connect at once, or make sure that the open socket lives. */
  wake(): void {
    if (this.endWake === null) {
      return;
    }
    if (this.isOpen) {
      this.sendPing();
      this.expectSign(WAKE_DEAD_MS);
    } else if (this.socket === null) {
      this.attempt = 0;
      clearTimeout(this.retry);
      this.connect();
    }
  }

  private connect(): void {
    this.trying.emit();
    let socket: ISocket;
    try {
      socket = this.makeSocket(!this.everOpened);
    } catch {
      this.retryLater();
      return;
    }
    this.socket = socket;
    this.everOpened = false;
    socket.onopen = () => this.onOpen();
    socket.onmessage = event => this.onMessage(event.data);
    socket.onclose = () => this.onLoss();
    // `close` follows, or the deadline
    socket.onerror = () => undefined;
    this.expectSign(OPEN_TIMEOUT_MS);
  }

  private onOpen(): void {
    this.isOpen = true;
    this.everOpened = true;
    this.expectSign(DEAD_MS);
    this.ping = setInterval(() => this.sendPing(), PING_MS);
    this.opened.emit();
  }

  private onMessage(data: unknown): void {
    this.attempt = 0;
    this.expectSign(DEAD_MS);
    const frame = parseFrame(data);
    if (frame !== null) {
      this.frame.emit(frame);
    }
  }

  private onLoss(): void {
    this.drop();
    this.retryLater();
  }

  private retryLater(): void {
    this.lost.emit();
    if (this.endWake !== null) {
      const patient = reconnectDelay(this.attempt, this.random);
      // whoever looks at the page waits for it
      const delay = isLookedAt() ? Math.min(LOOKED_AT_MS, patient) : patient;
      this.attempt += 1;
      this.retry = setTimeout(() => this.connect(), delay);
    }
  }

  private sendPing(): void {
    this.send({ type: 'ping', request_id: null });
  }

  private expectSign(withinMs: number): void {
    clearTimeout(this.silence);
    this.silence = setTimeout(() => this.onLoss(), withinMs);
  }

  /** Lets go of the socket; what it still has to say is not heard. */
  private drop(): void {
    clearTimeout(this.silence);
    clearInterval(this.ping);
    const { socket } = this;
    this.socket = null;
    this.isOpen = false;
    if (socket !== null) {
      socket.onopen = socket.onmessage = socket.onclose = socket.onerror = null;
      socket.close();
    }
  }
}
