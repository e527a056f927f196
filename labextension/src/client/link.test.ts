// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { FakeSockets } from '../testing/fake_socket';
import { OPEN_TIMEOUT_MS, WAKE_DEAD_MS } from './connection';
import { ApiError, NoAnswer } from './errors';
import { Link, REQUEST_TIMEOUT_MS } from './link';
import type { LinkState } from './link';

let sockets: FakeSockets;
let link: Link;

beforeEach(() => {
  vi.useFakeTimers();
  sockets = new FakeSockets();
  link = new Link(sockets.make, 'panel', () => 1);
});

afterEach(() => {
  link.stop();
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

function connect(): void {
  link.start();
  sockets.last.welcome();
}

function cursorAt(after_seq: number, epoch: string | null = 'e1') {
  return () => ({ after_seq, epoch });
}

describe('connecting', () => {
  it('greets before anything else and is open with the welcome', () => {
    const states: LinkState[] = [];
    link.stateChanged.connect(state => states.push(state));
    link.subscribe('c1', cursorAt(3));
    connect();
    expect(sockets.last.sent[0]).toEqual({
      type: 'hello',
      protocol: 1,
      client: 'panel',
      request_id: 'hello',
    });
    expect(sockets.last.sent[1]).toMatchObject({ type: 'subscribe', chat_id: 'c1', after_seq: 3 });
    expect(states).toEqual(['connecting', 'open']);
  });

  it('gives up on a server of another protocol and says so', () => {
    link.start();
    sockets.last.open();
    sockets.last.say({
      type: 'refused',
      request_id: 'hello',
      code: 'unsupported',
      message: 'reload',
      details: {},
    });
    expect(link.state).toBe('outdated');
    vi.advanceTimersByTime(120_000);
    expect(sockets.all).toHaveLength(1);
  });

  it('is tried another way after a socket that never opened', () => {
    link.start();
    sockets.last.lose();
    vi.advanceTimersByTime(500);
    sockets.last.welcome();
    sockets.last.lose();
    vi.advanceTimersByTime(500);
    expect(sockets.failedBefore).toEqual([false, true, false]);
  });
});

describe('a lost connection', () => {
  it('comes back with growing delays, from the start again once something was heard', () => {
    connect();
    const tries = () => sockets.all.length;
    sockets.last.lose();
    expect(link.state).toBe('waiting');
    for (const delay of [500, 1000, 2000, 4000, 4000, 4000]) {
      const before = tries();
      vi.advanceTimersByTime(delay - 1);
      expect(tries()).toBe(before);
      vi.advanceTimersByTime(1);
      expect(tries()).toBe(before + 1);
      sockets.last.lose();
    }
    vi.advanceTimersByTime(4_000);
    sockets.last.welcome();
    sockets.last.lose();
    vi.advanceTimersByTime(500);
    expect(link.state).toBe('connecting');
  });

  it('is tried less often while nobody looks at the page', () => {
    vi.spyOn(document, 'hidden', 'get').mockReturnValue(true);
    connect();
    for (const delay of [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]) {
      const before = sockets.all.length;
      sockets.last.lose();
      vi.advanceTimersByTime(delay - 1);
      expect(sockets.all).toHaveLength(before);
      vi.advanceTimersByTime(1);
      expect(sockets.all).toHaveLength(before + 1);
    }
    vi.restoreAllMocks();
  });

  it('is noticed by silence, although pings are sent', () => {
    connect();
    const socket = sockets.last;
    vi.advanceTimersByTime(11_999);
    expect(socket.sentOf('ping')).toHaveLength(2);
    expect(socket.closed).toBe(false);
    vi.advanceTimersByTime(1);
    expect(socket.closed).toBe(true);
    expect(link.state).toBe('waiting');
  });

  it('is not suspected while the server answers', () => {
    connect();
    for (let i = 0; i < 20; i++) {
      vi.advanceTimersByTime(5_000);
      sockets.last.say({ type: 'pong', request_id: null });
    }
    expect(sockets.all).toHaveLength(1);
    expect(link.state).toBe('open');
  });

  it('includes a socket that does not open in time', () => {
    link.start();
    vi.advanceTimersByTime(OPEN_TIMEOUT_MS);
    expect(sockets.last.closed).toBe(true);
    expect(link.state).toBe('waiting');
  });

  it('follows the chats again from where their logs are by then', () => {
    let seen = 5;
    link.subscribe('c1', () => ({ after_seq: seen, epoch: 'e1' }));
    link.subscribe('c2', cursorAt(1));
    link.unsubscribe('c2');
    connect();
    seen = 42;
    sockets.last.lose();
    vi.advanceTimersByTime(500);
    sockets.last.welcome();
    expect(sockets.last.sentOf('subscribe')).toMatchObject([
      { chat_id: 'c1', after_seq: 42, epoch: 'e1' },
    ]);
  });

  it('says nothing any more from the socket that was left', () => {
    const seqs: number[] = [];
    link.events.connect(frame => seqs.push(frame.upto));
    connect();
    const old = sockets.last;
    const late = old.onmessage;
    vi.advanceTimersByTime(12_000);
    old.sayRaw('{"type": "events", "chat_id": "c1", "after": 0, "upto": 1, "events": []}');
    expect(late).not.toBeNull();
    expect(seqs).toEqual([]);
  });
});

describe('waking up', () => {
  function show(): void {
    document.dispatchEvent(new Event('visibilitychange'));
  }

  it('connects at once instead of waiting out the delay', () => {
    connect();
    for (let i = 0; i < 6; i++) {
      sockets.last.lose();
      vi.advanceTimersByTime(30_000);
    }
    sockets.last.lose();
    const tries = sockets.all.length;
    show();
    expect(sockets.all).toHaveLength(tries + 1);
    sockets.last.lose();
    vi.advanceTimersByTime(500);
    expect(sockets.all).toHaveLength(tries + 2);
  });

  it.each(['online', 'pageshow', 'focus'])(
    'asks a socket that looks open for a sign on %s',
    name => {
      connect();
      window.dispatchEvent(new Event(name));
      expect(sockets.last.sentOf('ping')).toHaveLength(1);
      vi.advanceTimersByTime(WAKE_DEAD_MS);
      expect(link.state).toBe('waiting');
    },
  );

  it('does nothing once stopped', () => {
    connect();
    link.stop();
    show();
    expect(sockets.all).toHaveLength(1);
  });
});

describe('requests', () => {
  const cancel = { type: 'cancel', chat_id: 'c1' } as const;

  function idOf(type: string): string {
    return String(sockets.last.sentOf(type)[0]?.request_id);
  }

  it('are answered by their ack', async () => {
    connect();
    const answer = link.request(cancel);
    const request_id = idOf('cancel');
    sockets.last.say({ type: 'ack', request_id: 'other', result: { wrong: true } });
    sockets.last.say({ type: 'ack', request_id, result: { running: false } });
    await expect(answer).resolves.toEqual({ running: false });
  });

  it('are refused with code and details', async () => {
    connect();
    const answer = link.request(cancel);
    sockets.last.say({
      type: 'refused',
      request_id: idOf('cancel'),
      code: 'busy',
      message: 'Another server runs it',
      details: { holder: 'h' },
    });
    const error = await answer.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code: 'busy', details: { holder: 'h' } });
  });

  it('end unanswered at the deadline, at a loss and while not connected', async () => {
    await expect(link.request(cancel)).rejects.toBeInstanceOf(NoAnswer);
    connect();
    const lost = link.request(cancel);
    sockets.last.lose();
    await expect(lost).rejects.toBeInstanceOf(NoAnswer);
    vi.advanceTimersByTime(500);
    sockets.last.welcome();
    const late = link.request(cancel);
    const keepAlive = setInterval(() => sockets.last.say({ type: 'pong', request_id: null }), 1000);
    vi.advanceTimersByTime(REQUEST_TIMEOUT_MS);
    clearInterval(keepAlive);
    await expect(late).rejects.toBeInstanceOf(NoAnswer);
  });
});

describe('frames', () => {
  it('that are none change nothing and leave the socket open', () => {
    connect();
    for (const data of ['', 'oops', '[]', '{"no": "type"}', 'null', new ArrayBuffer(2)]) {
      sockets.last.sayRaw(data);
    }
    sockets.last.say({ type: 'from_the_future' });
    expect(link.state).toBe('open');
  });

  it('of events keep unknown types and lose what has no seq', () => {
    const got: unknown[] = [];
    link.events.connect(({ events }) => got.push(...events));
    connect();
    sockets.last.say({
      type: 'events',
      chat_id: 'c1',
      after: 0,
      upto: 2,
      events: [{ seq: 1, type: 'hologram' }, { type: 'notice' }, null, 'x'],
    });
    expect(got).toEqual([{ seq: 1, type: 'hologram', run_id: null }]);
  });

  it('reach every listener although one of them throws', () => {
    const seen: string[] = [];
    connect();
    const errors: unknown[] = [];
    vi.stubGlobal('queueMicrotask', (task: () => void) => {
      try {
        task();
      } catch (error) {
        errors.push(error);
      }
    });
    link.chatDeleted.connect(() => {
      throw new Error('mine');
    });
    link.chatDeleted.connect(id => seen.push(id));
    sockets.last.say({ type: 'chat_deleted', chat_id: 'c9' });
    vi.unstubAllGlobals();
    expect(seen).toEqual(['c9']);
    expect(errors).toHaveLength(1);
  });
});

describe('a refused subscription', () => {
  it('is told, so that the chat can be loaded anew', async () => {
    const refused: string[] = [];
    link.subscribeRefused.connect(({ chat_id, error }) => refused.push(`${chat_id} ${error.code}`));
    link.subscribe('c1', cursorAt(9, 'old'));
    connect();
    sockets.last.say({
      type: 'refused',
      request_id: String(sockets.last.sentOf('subscribe')[0]?.request_id),
      code: 'gone',
      message: 'another epoch',
      details: {},
    });
    await vi.advanceTimersByTimeAsync(0);
    expect(refused).toEqual(['c1 gone']);
  });
});
