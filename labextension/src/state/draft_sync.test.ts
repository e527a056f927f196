/** One person on two devices: nothing that was typed is overwritten silently. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { FakeServer } from '../testing/fake_server';
import { SAVE_PAUSE_MS } from './draft_sync';
import { Session } from './session';
import type { IChatStore, KeptDraft } from './stores';

const NOTHING: KeptDraft = { text: '', base: { revision: 0, text: '' } };
const DRAFT = 'chats/c1/draft';

let server: FakeServer;
let sessions: Session[];

beforeEach(() => {
  vi.useFakeTimers();
  server = new FakeServer();
  server.draft = { text: '', attachments: [], revision: 0 };
  sessions = [];
});
afterEach(() => {
  sessions.forEach(session => session.dispose());
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

const settle = () => vi.advanceTimersByTimeAsync(0);
const pause = () => vi.advanceTimersByTimeAsync(SAVE_PAUSE_MS);

/** Shows the chat in another browser, which has kept this. */
async function device(kept: KeptDraft = NOTHING) {
  const session = new Session(server, { schedule: task => void setTimeout(task, 0) });
  sessions.push(session);
  const store = session.chat('c1');
  const end = store.draftSync.follow(kept);
  await settle();
  return { store, end, text: () => store.draft.getSnapshot().text };
}

async function write(store: IChatStore, text: string): Promise<void> {
  store.setDraft(text);
  await pause();
}

const offer = (store: IChatStore) => store.draftSync.offer.getSnapshot()?.text ?? null;

function offline(): void {
  for (const verb of ['GET', 'PUT']) {
    server.answers.set(`${verb} ${DRAFT}`, () => Promise.reject(new Error('no network')));
  }
}

function online(): void {
  server.answers.clear();
}

describe('a draft', () => {
  it('goes to the server a moment after the last key, once', async () => {
    const { store } = await device();
    store.setDraft('half');
    store.setDraft('half a');
    await pause();
    expect(server.requestsTo(`PUT ${DRAFT}`).map(({ body }) => body)).toEqual([
      { text: 'half a', attachments: [], revision: 0 },
    ]);
  });

  it('is there on another device', async () => {
    const laptop = await device();
    await write(laptop.store, 'half a sentence');
    expect((await device()).text()).toBe('half a sentence');
  });

  it('goes to the server at once when the person looks away, and may outlive the page', async () => {
    const { store } = await device();
    store.setDraft('half');
    store.draftSync.flush(true);
    await settle();
    expect(server.requestsTo(`PUT ${DRAFT}`)[0]?.keepalive).toBe(true);
    expect(server.draft?.text).toBe('half');
  });

  it('is gone everywhere once it was sent', async () => {
    const laptop = await device();
    const phone = await device();
    await write(laptop.store, 'do it');
    await phone.store.draftSync.refresh();
    expect(phone.text()).toBe('do it');
    server.answers.set('POST chats/c1/prompts', () => Response.json({ run_id: 'r1' }));
    await laptop.store.send();
    await settle();
    expect(server.draft?.text).toBe('');
    await phone.store.draftSync.refresh();
    expect(phone.text()).toBe('');
    expect(server.draft?.text).toBe('');
  });

  it('stays on the server while the prompt is on its way', async () => {
    const { store } = await device();
    await write(store, 'do it');
    const answers: ((response: Response) => void)[] = [];
    server.answers.set(
      'POST chats/c1/prompts',
      () => new Promise(resolve => void answers.push(resolve)),
    );
    const sent = store.send();
    await pause();
    expect(server.draft?.text).toBe('do it');
    answers[0]?.(Response.json({ run_id: 'r1' }));
    await sent;
    await settle();
    expect(server.draft?.text).toBe('');
  });
});

describe('two devices at once', () => {
  async function conflict() {
    const laptop = await device();
    const phone = await device();
    await write(phone.store, 'from the phone');
    await write(laptop.store, 'from the laptop');
    return { laptop, phone };
  }

  it('the other draft is offered, and nothing is overwritten', async () => {
    const { laptop } = await conflict();
    expect(offer(laptop.store)).toBe('from the phone');
    expect(laptop.text()).toBe('from the laptop');
    const asked = server.requests.length;
    await write(laptop.store, 'from the laptop, more');
    expect(server.requests).toHaveLength(asked);
    expect(server.draft?.text).toBe('from the phone');
  });

  it('"Use it" takes the other one and puts mine aside', async () => {
    const { laptop } = await conflict();
    laptop.store.draftSync.useOther();
    await pause();
    expect(laptop.text()).toBe('from the phone');
    expect(laptop.store.rewinds.getSnapshot().saved?.text).toBe('from the laptop');
    expect(offer(laptop.store)).toBeNull();
    expect(server.draft?.text).toBe('from the phone');
  });

  it('"Keep mine" sends mine, and the other device is asked in its turn only if it types', async () => {
    const { laptop, phone } = await conflict();
    laptop.store.draftSync.keepMine();
    await settle();
    expect(server.draft?.text).toBe('from the laptop');
    expect(offer(laptop.store)).toBeNull();
    await phone.store.draftSync.refresh();
    expect(phone.text()).toBe('from the laptop');
    expect(offer(phone.store)).toBeNull();
  });

  it('a draft that a rewind has put aside stays', async () => {
    const { store } = await device();
    store.rewinds.keep({ text: 'saved by a rewind', attachments: [] });
    server.draft = { text: 'elsewhere', attachments: [], revision: 4 };
    await store.draftSync.refresh();
    expect(store.draft.getSnapshot().text).toBe('elsewhere');
    expect(store.rewinds.getSnapshot().saved?.text).toBe('saved by a rewind');
  });
});

describe('what the browser has kept over a reload', () => {
  const base = { revision: 3, text: 'old' };

  it.each([
    ['nothing: the one of the server is taken', NOTHING, 'new', 'new', null],
    ['the same as before: the newer one is taken', { text: 'old', base }, 'new', 'new', null],
    [
      'more, and both have changed: the other is offered',
      { text: 'old+', base },
      'new',
      'old+',
      'new',
    ],
    ['more, but the other was sent: mine stays', { text: 'old+', base }, '', 'old+', null],
    [
      'a text of nobody knows when: the other is offered',
      { ...NOTHING, text: 'x' },
      'new',
      'x',
      'new',
    ],
  ])('%s', async (_, kept, onServer, shown, offered) => {
    server.draft = { text: onServer, attachments: [], revision: 4 };
    const { store, text } = await device(kept);
    expect(text()).toBe(shown);
    expect(offer(store)).toBe(offered);
  });

  it('more than the server: it is sent', async () => {
    server.draft = { text: 'old', attachments: [], revision: 3 };
    const { text } = await device({ text: 'old and more', base });
    expect(text()).toBe('old and more');
    expect(server.draft.text).toBe('old and more');
  });

  it('that it was sent: the server forgets it too', async () => {
    server.draft = { text: 'old', attachments: [], revision: 3 };
    const { text } = await device({ text: '', base });
    expect(text()).toBe('');
    expect(server.draft.text).toBe('');
  });
});

describe('without a connection', () => {
  it('a draft is sent when the connection is back', async () => {
    const { store } = await device();
    offline();
    await write(store, 'written on the train');
    expect(server.draft?.text).toBe('');
    online();
    await store.draftSync.refresh();
    expect(server.draft?.text).toBe('written on the train');
  });

  it('nothing is sent before the draft of the server is known', async () => {
    server.draft = { text: 'elsewhere', attachments: [], revision: 2 };
    offline();
    const { store } = await device();
    await write(store, 'here');
    expect(server.requestsTo(`PUT ${DRAFT}`)).toEqual([]);
    online();
    await store.draftSync.refresh();
    expect(offer(store)).toBe('elsewhere');
    expect(server.draft.text).toBe('elsewhere');
  });
});
