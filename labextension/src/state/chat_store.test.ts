import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { EventWriter } from '../testing/events';
import { chatRow, FakeServer, refusal } from '../testing/fake_server';
import { READ_MS } from './read_mark';
import { Session } from './session';
import type { IChatStore, IReadable } from './stores';

let server: FakeServer;
let session: Session;
let writer: EventWriter;
let frames: (() => void)[];
let now: number;

beforeEach(() => {
  vi.useFakeTimers();
  server = new FakeServer();
  server.rows = [chatRow('c1')];
  writer = new EventWriter();
  frames = [];
  now = 1000;
  session = new Session(server, { schedule: task => frames.push(task), now: () => now });
});

afterEach(() => {
  session.dispose();
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

async function settle(): Promise<void> {
  await vi.advanceTimersByTimeAsync(0);
}

/** Draws a frame: what came in is taken in. */
function draw(): void {
  frames.splice(0).forEach(task => task());
}

function turnOf(run: string, answer = 'answer'): void {
  writer.begin(run, `prompt of ${run}`);
  writer.final(`text-${run}`, answer);
  writer.complete();
}

/** Writes some turns into the log, opens the chat and follows it. */
async function follow(turns = 1): Promise<IChatStore> {
  for (let i = 0; i < turns; i++) {
    turnOf(`r${i}`);
  }
  server.events = [...writer.events];
  server.connect();
  const store = session.chat('c1');
  store.open();
  await settle();
  server.sync('c1');
  draw();
  return store;
}

/** Publishes what was written since the last time. */
function publishNew(): void {
  server.publish('c1', writer.events.slice(server.events.length));
}

function prompts(store: IChatStore): string[] {
  return store.thread.getSnapshot().turns.flatMap(turn => turn.user?.text ?? []);
}

function changesOf(readable: IReadable<unknown>): () => number {
  let changes = 0;
  readable.subscribe(() => (changes += 1));
  return () => changes;
}

describe('opening a chat', () => {
  it('loads the newest turns and follows from their end', async () => {
    const store = await follow(15);
    expect(store.thread.getSnapshot()).toMatchObject({ state: 'ready', hasOlder: true });
    expect(prompts(store)).toHaveLength(10);
    const last = writer.events.at(-1)!.seq;
    expect(server.sockets.last.sentOf('subscribe')).toMatchObject([
      { chat_id: 'c1', after_seq: last, epoch: 'e1' },
    ]);
    expect(store.chat.getSnapshot()?.title).toBe('Chat c1');
  });

  it('twice follows once, and stops with the last release', async () => {
    const store = await follow();
    const second = store.open();
    await settle();
    expect(server.sockets.last.sentOf('subscribe')).toHaveLength(1);
    second();
    second();
    expect(server.sockets.last.sentOf('unsubscribe')).toHaveLength(0);
  });

  it('again after closing shows at once what was there and follows from there', async () => {
    server.connect();
    const store = session.chat('c1');
    const release = store.open();
    await settle();
    release();
    expect(server.sockets.last.sentOf('unsubscribe')).toHaveLength(1);
    store.open();
    await settle();
    expect(server.requestsTo('GET chats/c1/events')).toHaveLength(1);
    expect(server.sockets.last.sentOf('subscribe')).toHaveLength(2);
  });

  it('that does not exist says so', async () => {
    server.answers.set('GET chats/c1/events', () => refusal('not_found', 404));
    const store = await follow();
    expect(store.thread.getSnapshot().state).toBe('deleted');
    expect(server.sockets.last.sentOf('subscribe')).toHaveLength(0);
  });

  it('without an answer says why and is tried again', async () => {
    server.answers.set('GET chats/c1/events', () => Promise.reject(new TypeError('down')));
    const store = await follow();
    expect(store.thread.getSnapshot()).toMatchObject({
      state: 'failed',
      failure: { code: 'network' },
    });
    server.answers.clear();
    await vi.advanceTimersByTimeAsync(2000);
    expect(store.thread.getSnapshot().state).toBe('ready');
    expect(server.sockets.last.sentOf('subscribe')).toHaveLength(1);
  });

  it('refused for good waits for the person', async () => {
    server.answers.set('GET chats/c1/events', () => refusal('forbidden', 403));
    const store = await follow();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(server.requestsTo('GET chats/c1/events')).toHaveLength(1);
    server.answers.clear();
    await store.reload();
    expect(store.thread.getSnapshot()).toMatchObject({ state: 'ready', failure: null });
  });
});

describe('older turns', () => {
  it('come before the others, which stay the same objects', async () => {
    const store = await follow(15);
    const before = store.thread.getSnapshot().turns;
    await Promise.all([store.loadOlder(), store.loadOlder()]);
    const view = store.thread.getSnapshot();
    expect(view).toMatchObject({ hasOlder: false, loadingOlder: false });
    expect(prompts(store)).toHaveLength(15);
    expect(view.turns.at(-1)).toBe(before.at(-1));
    expect(server.requestsTo('GET chats/c1/events')).toHaveLength(2);
  });
});

describe('live events', () => {
  it('are shown once per frame, however many came', async () => {
    const store = await follow();
    const changes = changesOf(store.thread);
    writer.begin('live');
    publishNew();
    for (const word of ['one ', 'two ', 'three']) {
      writer.delta('t', word);
      publishNew();
    }
    expect(changes()).toBe(0);
    draw();
    expect(changes()).toBe(1);
    expect(store.thread.getSnapshot().turns.at(-1)?.parts).toMatchObject([
      { text: 'one two three' },
    ]);
  });

  it('change neither draft nor row, and typing changes no thread', async () => {
    const store = await follow();
    const [draft, row] = [changesOf(store.draft), changesOf(store.chat)];
    turnOf('live');
    publishNew();
    draw();
    expect([draft(), row()]).toEqual([0, 0]);
    const thread = changesOf(store.thread);
    store.setDraft('typing');
    expect(thread()).toBe(0);
  });

  it('behind a gap are loaded by REST, then followed again', async () => {
    const store = await follow();
    turnOf('missed');
    server.events = [...writer.events];
    turnOf('seen');
    publishNew();
    draw();
    await settle();
    expect(prompts(store)).toEqual(['prompt of r0', 'prompt of missed', 'prompt of seen']);
    expect(server.sockets.last.sentOf('subscribe').at(-1)).toMatchObject({
      after_seq: writer.events.at(-1)!.seq,
    });
  });

  it('of a gap that is only a hole do not load for ever', async () => {
    const store = await follow();
    const hole = writer.skip();
    turnOf('next');
    const events = writer.events.slice(server.events.length);
    const upto = writer.events.at(-1)!.seq;
    server.sockets.last.say({ type: 'events', chat_id: 'c1', after: hole, upto, events });
    draw();
    await settle();
    const { after_seq } = server.sockets.last.sentOf('subscribe').at(-1)!;
    expect(after_seq).toBe(hole);
    server.sockets.last.say({ type: 'events', chat_id: 'c1', after: hole, upto, events });
    draw();
    expect(prompts(store)).toEqual(['prompt of r0', 'prompt of next']);
  });

  it('that the server gave up sending are caught up', async () => {
    const store = await follow();
    turnOf('missed');
    server.events = [...writer.events];
    const last_seq = writer.events.at(-1)!.seq;
    server.sockets.last.say({ type: 'gap', chat_id: 'c1', last_seq });
    await settle();
    expect(prompts(store)).toEqual(['prompt of r0', 'prompt of missed']);
  });

  it('from a store that was replaced are loaded anew', async () => {
    const store = await follow(2);
    server.epoch = 'e2';
    server.events = server.events.slice(0, 5);
    server.sockets.last.lose();
    await vi.advanceTimersByTimeAsync(500);
    server.sockets.last.welcome('e2');
    const [subscribe] = server.sockets.last.sentOf('subscribe');
    const { request_id } = subscribe!;
    const gone = { code: 'gone', message: 'another epoch', details: {} };
    server.sockets.last.say({ type: 'refused', request_id, ...gone });
    await settle();
    expect(prompts(store)).toEqual(['prompt of r0']);
    expect(server.sockets.last.sentOf('subscribe').at(-1)).toMatchObject({
      after_seq: 5,
      epoch: 'e2',
    });
  });

  it('of an undone rewind bring back what was cut', async () => {
    const store = await follow();
    const from = writer.begin('cut', 'cut and back').seq;
    const to = writer.complete().seq;
    publishNew();
    writer.rewound(from, to);
    publishNew();
    draw();
    expect(prompts(store)).toEqual(['prompt of r0']);
    const undone = { ...writer.rewound(from, to), type: 'rewind_undone' as const };
    const kept = writer.events.filter(event => event.type !== 'rewound');
    server.events = kept;
    const after = undone.seq - 1;
    server.sockets.last.say({
      type: 'events',
      chat_id: 'c1',
      after,
      upto: undone.seq,
      events: [undone],
    });
    draw();
    await settle();
    expect(prompts(store)).toEqual(['prompt of r0', 'cut and back']);
  });
});

describe('what runs', () => {
  const ask = { type: 'ask', ask_id: 'a', title: 'Run ls?' };

  it('is what sync says, not what events look like', async () => {
    const store = await follow();
    writer.begin('live');
    publishNew();
    draw();
    expect(store.run.getSnapshot()).toMatchObject({ known: true, running: false });
    server.sync('c1', { running: true, run_id: 'live', phase: 'thinking' });
    writer.complete();
    publishNew();
    draw();
    expect(store.run.getSnapshot()).toMatchObject({ running: true, runningKey: 'run:live' });
    expect(store.thread.getSnapshot().turns.at(-1)?.key).toBe('run:live');
  });

  it('keeps an open ask the same object', async () => {
    const store = await follow();
    server.sync('c1', { running: true, run_id: 'r', phase: 'waiting', asks: [ask] });
    draw();
    const before = store.run.getSnapshot().asks;
    server.sync('c1', { running: true, run_id: 'r', phase: 'waiting', asks: [ask] });
    draw();
    expect(store.run.getSnapshot().asks).toBe(before);
    server.sync('c1', { running: true, run_id: 'r', phase: 'tool', asks: [] });
    draw();
    expect(store.run.getSnapshot().asks).toEqual([]);
  });

  it('is unknown while the connection is lost', async () => {
    const store = await follow();
    server.sockets.last.lose();
    expect(store.run.getSnapshot().known).toBe(false);
    expect(session.connection.getSnapshot()).toMatchObject({ state: 'waiting', everOpen: true });
  });

  it('has been silent since its last event', async () => {
    const store = await follow();
    now = 5000;
    server.sync('c1', { running: true, run_id: 'r', phase: 'thinking' });
    draw();
    now = 9000;
    server.sync('c1', { running: true, run_id: 'r', phase: 'thinking' });
    draw();
    expect(store.run.getSnapshot().lastOutputAt).toBe(5000);
    turnOf('r');
    publishNew();
    draw();
    expect(store.run.getSnapshot().lastOutputAt).toBe(9000);
  });

  it('stops in stages, and is itself again when the run has ended', async () => {
    const store = await follow();
    server.sync('c1', { running: true, run_id: 'r', phase: 'tool' });
    draw();
    await store.cancel();
    expect(store.run.getSnapshot().stopping).toBe('asked');
    await store.cancel();
    expect(store.run.getSnapshot().stopping).toBe('force');
    server.sync('c1', { running: true, run_id: 'r', phase: 'cancelling' });
    draw();
    expect(store.run.getSnapshot().stopping).toBe('force');
    server.sync('c1');
    draw();
    expect(store.run.getSnapshot().stopping).toBeNull();
    expect(server.requestsTo('POST chats/c1/cancel')).toHaveLength(2);
  });
});

describe('answers and settings', () => {
  it('say when somebody else was first', async () => {
    const store = await follow();
    server.answers.set('POST chats/c1/asks/a', () => refusal('already_resolved', 409));
    const outcome = await store.answer('a', { decision: 'allow', option_id: 'once' });
    expect(outcome).toMatchObject({ ok: false, failure: { code: 'already_resolved' } });
  });

  it('that give the agent more go by the person, others do not', async () => {
    const store = await follow();
    const row = chatRow('c1', { mode: 'code', permission: 'accept_edits' });
    server.answers.set('PATCH chats/c1', () => Response.json(row));
    await store.patch({ permission: 'accept_edits' });
    await store.patch({ permission: 'read_only' });
    await store.patch({ title: 'New' });
    await store.patch({ mode: 'full_auto' });
    const sent = server.requestsTo('PATCH chats/c1').map(request => request.byPerson);
    expect(sent).toEqual([true, false, false, true]);
    expect(store.chat.getSnapshot()?.permission).toBe('accept_edits');
    expect(session.list.get('c1')?.permission).toBe('accept_edits');
  });
});

describe('reading', () => {
  it('is told at once, then seldom', async () => {
    const store = await follow();
    const first = writer.events.at(-1)!.seq;
    server.sync('c1', { running: true, phase: 'writing', run_id: 'r0' });
    draw();
    store.markRead();
    for (let i = 0; i < 20; i++) {
      writer.notice('more');
      publishNew();
      draw();
      store.markRead();
    }
    expect(server.requestsTo('POST chats/c1/read')).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(READ_MS);
    const told = server.requestsTo('POST chats/c1/read').map(request => request.body);
    expect(told).toEqual([{ seq: first }, { seq: writer.events.at(-1)!.seq }]);
    await vi.advanceTimersByTimeAsync(READ_MS);
  });

  it('is told at once when the chat is left, or when the run has ended', async () => {
    turnOf('r0');
    server.events = [...writer.events];
    server.connect();
    const store = session.chat('c1');
    const leave = store.open();
    await settle();
    server.sync('c1', { running: true, phase: 'writing', run_id: 'r0' });
    draw();
    store.markRead();
    const see = () => {
      writer.notice('more');
      publishNew();
      draw();
      store.markRead();
    };
    const told = () => server.requestsTo('POST chats/c1/read').length;
    see();
    expect(told()).toBe(1);
    server.sync('c1');
    draw();
    store.markRead();
    expect(told()).toBe(2);
    server.sync('c1', { running: true, phase: 'writing', run_id: 'r1' });
    draw();
    see();
    expect(told()).toBe(2);
    leave();
    expect(told()).toBe(3);
    await vi.advanceTimersByTimeAsync(READ_MS);
  });
});

it('a deleted chat is no longer followed', async () => {
  const store = await follow();
  server.sockets.last.say({ type: 'chat_deleted', chat_id: 'c1' });
  expect(store.thread.getSnapshot().state).toBe('deleted');
  expect(session.list.get('c1')).toBeUndefined();
});

it('logs of chats closed long ago are dropped and come back when opened', async () => {
  server.rows = [];
  const first = await follow();
  const ids = Array.from({ length: 8 }, (_, i) => `other${i}`);
  const release = first.open();
  release();
  for (const id of ids) {
    const close = session.chat(id).open();
    await settle();
    close();
  }
  // the first is still open, so it keeps its log
  expect(prompts(first)).toHaveLength(1);
  const oldest = session.chat('other0');
  expect(oldest.thread.getSnapshot().turns).toHaveLength(0);
  oldest.open();
  await settle();
  expect(prompts(oldest)).toHaveLength(1);
});
