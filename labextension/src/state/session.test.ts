import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { chatRow, FakeServer } from '../testing/fake_server';
import { Session } from './session';

let server: FakeServer;
let session: Session;

beforeEach(() => {
  vi.useFakeTimers();
  server = new FakeServer();
  server.rows = [chatRow('c1')];
  session = new Session(server, { schedule: task => task() });
});

afterEach(() => {
  session.dispose();
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

async function start(): Promise<void> {
  session.start();
  server.sockets.last.welcome();
  await vi.advanceTimersByTimeAsync(0);
}

describe('a session', () => {
  it('opens nothing and asks nothing before it is started, and then once', async () => {
    session.chat('c1');
    expect([server.sockets.all.length, server.requests.length]).toEqual([0, 0]);
    await start();
    session.start();
    expect(server.sockets.all).toHaveLength(1);
    expect(server.requestsTo('GET providers')).toHaveLength(1);
    expect(session.list.getSnapshot()).toMatchObject({ state: 'ready', total: 1 });
    expect(session.connection.getSnapshot()).toMatchObject({
      state: 'open',
      everOpen: true,
      user: { username: 'owner' },
    });
  });

  it('brings rows to the list and to the chat that is open', async () => {
    await start();
    const store = session.chat('c1');
    store.open();
    server.sockets.last.say({ type: 'chat', chat: chatRow('c1', { title: 'Renamed' }) });
    expect(session.list.get('c1')?.title).toBe('Renamed');
    expect(store.chat.getSnapshot()?.title).toBe('Renamed');
  });

  it('brings rows that the list made to the chat as well', async () => {
    await start();
    const store = session.chat('c1');
    const renamed = chatRow('c1', { title: 'By the list' });
    server.answers.set('PATCH chats/c1', () => Response.json(renamed));
    await session.list.patch('c1', { title: 'By the list' });
    expect(store.chat.getSnapshot()?.title).toBe('By the list');
  });

  it('loads the list again after a reconnect, since rows may have changed unseen', async () => {
    await start();
    server.rows = [chatRow('c1'), chatRow('c2')];
    server.sockets.last.lose();
    await vi.advanceTimersByTimeAsync(500);
    server.sockets.last.welcome();
    await vi.advanceTimersByTimeAsync(0);
    expect(session.list.getSnapshot().total).toBe(2);
  });

  it('shows what a probe found', async () => {
    await start();
    server.sockets.last.say({ type: 'providers', providers: [{ id: 'tour' }] });
    expect(session.providers.get('tour')).toBeDefined();
  });

  it('hands out one store per chat', () => {
    expect(session.chat('c1')).toBe(session.chat('c1'));
  });
});

describe('a prompt', () => {
  it('is on its way until its event arrives, wherever it comes from', async () => {
    await start();
    const store = session.chat('c1');
    store.open();
    await vi.advanceTimersByTimeAsync(0);
    server.answers.set('POST chats/c1/prompts', () => Response.json({ run_id: 'r' }));
    await store.send('hello');
    const [pending] = store.thread.getSnapshot().pending;
    expect(pending?.text).toBe('hello');
    server.sync('c1', { queue: [{ id: 'q', client_id: pending?.clientId, text: 'hello' }] });
    expect(store.thread.getSnapshot().pending).toEqual([]);
  });
});
