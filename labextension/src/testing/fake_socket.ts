/** A websocket whose other end is the test. */
import type { ISocket, SocketFactory } from '../client/connection';

type Frame = Record<string, unknown> & { type: string };

export class FakeSocket implements ISocket {
  onopen: ((event: never) => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: ((event: never) => void) | null = null;
  onerror: ((event: never) => void) | null = null;
  readonly sent: Frame[] = [];
  closed = false;

  send(data: string): void {
    this.sent.push(JSON.parse(data) as Frame);
  }

  close(): void {
    this.closed = true;
  }

  open(): void {
    this.onopen?.(undefined as never);
  }

  /** The server says something. */
  say(frame: Frame): void {
    this.sayRaw(JSON.stringify(frame));
  }

  sayRaw(data: unknown): void {
    this.onmessage?.({ data });
  }

  welcome(epoch = 'e1'): void {
    this.open();
    this.say({ type: 'welcome', protocol: 1, epoch, user: { username: 'owner', name: 'Owner' } });
  }

  /** The connection breaks, and the browser notices. */
  lose(): void {
    this.onclose?.(undefined as never);
  }

  sentOf(type: string): Frame[] {
    return this.sent.filter(frame => frame.type === type);
  }
}

/** Sockets in the order in which they were asked for. */
export class FakeSockets {
  readonly all: FakeSocket[] = [];
  readonly failedBefore: boolean[] = [];

  readonly make: SocketFactory = failedBefore => {
    const socket = new FakeSocket();
    this.all.push(socket);
    this.failedBefore.push(failedBefore);
    return socket;
  };

  get last(): FakeSocket {
    return this.all.at(-1)!;
  }
}
