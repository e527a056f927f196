/** A real long chat: 13,487 items in 129 turns, in pages of whole turns. */
import { beforeEach, describe, expect, it } from 'vitest';

import { EventWriter } from '../testing/events';
import { chatRow, FakeServer } from '../testing/fake_server';
import { Session } from './session';
import type { IChatStore } from './stores';

const TURNS = 129;
const ITEMS = 13_487;
const EVENTS = 'GET chats/c1/events';

let server: FakeServer;
let store: IChatStore;
const settle = () => new Promise<void>(resolve => setTimeout(resolve, 0));

/** Five events frame a turn; the rest are finals, spread over the turns. */
function history(): EventWriter {
  const writer = new EventWriter();
  for (let n = 0; n < TURNS; n++) {
    writer.begin(`r${n}`, `prompt ${n}`);
    const until = Math.round(((n + 1) * ITEMS) / TURNS) - 1;
    for (let item = 0; writer.events.length < until; item++) {
      writer.final(`t${n}-${item}`, `answer ${n}-${item}`);
    }
    writer.complete();
  }
  return writer;
}

beforeEach(async () => {
  server = new FakeServer();
  server.rows = [chatRow('c1')];
  server.events = history().events;
  const session = new Session(server, { schedule: task => void setTimeout(task, 0) });
  server.connect();
  store = session.chat('c1');
  store.open();
  await settle();
});

const shown = () => store.thread.getSnapshot();
const first = () => shown().turns[0]?.user?.text;

describe('a chat of 13,487 items in 129 turns', () => {
  it('opens with its end, and older turns come whole until the first prompt is there', async () => {
    expect(server.events).toHaveLength(ITEMS);
    expect(shown().turns).toHaveLength(10);
    let pages = 0;
    while (shown().hasOlder) {
      const before = shown().turns;
      await store.loadOlder();
      pages += 1;
      // what stood there is what stands there: nothing is drawn anew
      expect(shown().turns.slice(-before.length)).toEqual(before);
      expect(shown().turns.at(-before.length)).toBe(before[0]);
    }
    expect(pages).toBe(6);
    expect(shown().turns).toHaveLength(TURNS);
    expect(first()).toBe('prompt 0');
    const items = shown().turns.map(({ parts }) => parts.length);
    expect(items.reduce((sum, count) => sum + count, 0)).toBe(ITEMS - 4 * TURNS);
  });

  it('a hit far back brings what is between it and the end, shown at once', async () => {
    const seq = server.events.findLast(
      event => event.type === 'assistant_text' && event.text?.startsWith('answer 3-'),
    )?.seq;
    let changes = 0;
    let turns = shown().turns;
    store.thread.subscribe(() => {
      changes += turns === shown().turns ? 0 : 1;
      turns = shown().turns;
    });
    await store.jump.to(seq ?? 0);
    expect(store.jump.getSnapshot()).toMatchObject({ seq });
    expect(changes).toBe(1);
    expect(shown().turns.some(turn => turn.user?.text === 'prompt 3')).toBe(true);
  });

  it('a hit at the end loads nothing', async () => {
    await settle();
    const before = server.requestsTo(EVENTS).length;
    await store.jump.to(ITEMS);
    // where the event stands is asked for, no page
    expect(server.requestsTo(EVENTS)).toHaveLength(before + 1);
    expect(store.jump.getSnapshot()?.seq).toBe(ITEMS);
  });
});

describe('going to an event', () => {
  it('a text is found at its end and shown where it began', async () => {
    const writer = new EventWriter();
    writer.begin('r1', 'go');
    const began = writer.skip();
    writer.toolStart('tool');
    const end = writer.final('t', 'the answer', began).seq;
    server.events = writer.events;
    await store.reload();
    await store.jump.to(end);
    expect(store.jump.getSnapshot()?.seq).toBe(began);
  });

  it('only the last of two is shown, and none when there is no answer', async () => {
    const both = [store.jump.to(2), store.jump.to(ITEMS)];
    await Promise.all(both);
    expect(store.jump.getSnapshot()?.seq).toBe(ITEMS);
    server.answers.set(EVENTS, () => Promise.reject(new Error('no network')));
    await store.jump.to(2);
    expect(store.jump.getSnapshot()).toBeNull();
  });
});
