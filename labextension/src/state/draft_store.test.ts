import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { chatRow, FakeServer, refusal } from '../testing/fake_server';
import { DraftStore } from './draft_store';
import { RETRY_MS } from './outbox';

let server: FakeServer;
let draft: DraftStore;
const PROMPTS = 'POST chats/c1/prompts';
const TRUST = 'POST projects/trust';
const RETRIES = RETRY_MS.reduce((sum, ms) => sum + ms, 0);

beforeEach(() => {
  vi.useFakeTimers();
  server = new FakeServer();
  let ids = 0;
  draft = new DraftStore('c1', {
    api: server.api,
    newId: () => `id${(ids += 1)}`,
    expect: () => {
      const { provider, model, mode, effective_permission } = chatRow('c1');
      return { provider, model, mode, effective_permission };
    },
    place: delivery => (delivery === 'queue' ? 'queue' : 'thread'),
  });
});

afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

function texts(): unknown[] {
  return server.requestsTo(PROMPTS).map(({ body }) => (body as { text: string }).text);
}

function answerWith(...answers: (() => Response)[]): void {
  server.answers.set(PROMPTS, () => {
    const next = answers.length > 1 ? answers.shift() : answers[0];
    return next!();
  });
}

const accepted = () => Response.json({ run_id: 'r1' }, { status: 202 });
const down = (): Response => {
  throw new TypeError('down');
};

function text(): string {
  return draft.view.getSnapshot().text;
}

/** The prompts that are shown as on their way. */
function shown(): string[] {
  return draft.pending.getSnapshot().map(prompt => prompt.text);
}

function clientIds(): unknown[] {
  return server.requestsTo(PROMPTS).map(({ body }) => (body as { client_id: string }).client_id);
}

describe('sending', () => {
  it('empties the draft at once and shows the prompt until the log has it', async () => {
    answerWith(accepted);
    draft.setText('look around');
    const sent = draft.send();
    expect(draft.view.getSnapshot()).toMatchObject({ text: '', sending: true });
    expect(shown()).toEqual(['look around']);
    await sent;
    expect(draft.view.getSnapshot()).toMatchObject({ sending: false, refusal: null });
    expect(shown()).toEqual(['look around']);
    draft.arrived(id => id === 'id1');
    expect(shown()).toEqual([]);
  });

  it('says what the person saw', async () => {
    answerWith(accepted);
    await draft.send('hi');
    expect(server.requestsTo(PROMPTS)[0]?.body).toEqual({
      client_id: 'id1',
      text: 'hi',
      expect: { provider: 'tour', model: 'guide', mode: 'code', effective_permission: 'ask' },
    });
  });

  it('does nothing without words', async () => {
    await draft.send('  \n');
    expect(server.requestsTo(PROMPTS)).toHaveLength(0);
  });

  it('again and again needs no waiting, and keeps the order in which a person wrote', async () => {
    const answers: (() => void)[] = [];
    server.answers.set(
      PROMPTS,
      () => new Promise(resolve => answers.push(() => resolve(accepted()))),
    );
    const sent = ['first', 'second', 'third'].map(words => {
      draft.setText(words);
      return draft.send();
    });
    expect(text()).toBe('');
    expect(shown()).toEqual(['first', 'second', 'third']);
    expect(draft.view.getSnapshot().unsent).toBe('first\n\nsecond\n\nthird');
    for (let i = 0; i < 3; i++) {
      await vi.advanceTimersByTimeAsync(0);
      answers.shift()!();
    }
    await Promise.all(sent);
    expect(texts()).toEqual(['first', 'second', 'third']);
    expect(draft.view.getSnapshot()).toMatchObject({ sending: false, unsent: '' });
  });

  it('into the queue shows the prompt there until the server has taken it', async () => {
    const item = { id: 'q1' };
    answerWith(() => Response.json({ queue_item: item, run_id: null, steered: false }));
    draft.setText('later');
    const sent = draft.send(undefined, { delivery: 'queue' });
    expect(draft.pending.getSnapshot()).toMatchObject([{ text: 'later', place: 'queue' }]);
    await sent;
    expect(shown()).toEqual([]);
    expect(server.requestsTo(PROMPTS)[0]?.body).toMatchObject({ delivery: 'queue' });
  });

  it('takes attachments along: uploads by their id, other things by where they are', async () => {
    const about = { mime: '', size: 1, name: 'x' };
    const image = { ...about, id: 'u1', kind: 'image' as const, path: '/up/x.png', detail: null };
    const cell = {
      ...about,
      id: 'c1',
      kind: 'cell' as const,
      path: 'a.ipynb',
      detail: { cell_id: 'k' },
    };
    answerWith(() => refusal('busy', 409), accepted);
    draft.replace({ text: 'look', attachments: [image, cell] });
    await draft.send();
    expect(draft.content()).toEqual({ text: 'look', attachments: [image, cell] });
    draft.removeAttachment('u1');
    await draft.send();
    const sent = server.requestsTo(PROMPTS).map(({ body }) => body);
    const none = { kind: null, path: null, detail: null };
    const asCell = { id: null, kind: 'cell', path: 'a.ipynb', detail: { cell_id: 'k' } };
    expect(sent).toMatchObject([
      { attachments: [{ id: 'u1', ...none }, asCell] },
      { attachments: [asCell] },
    ]);
    expect(draft.content()).toEqual({ text: '', attachments: [] });
  });
});

describe('a refused prompt', () => {
  it('is back in the draft with the reason', async () => {
    answerWith(() => refusal('busy', 409));
    draft.setText('not now');
    await draft.send();
    expect(draft.view.getSnapshot()).toMatchObject({
      text: 'not now',
      sending: false,
      refusal: { code: 'busy' },
    });
    expect(shown()).toEqual([]);
    draft.dismissRefusal();
    expect(draft.view.getSnapshot()).toMatchObject({ text: 'not now', refusal: null });
  });

  it('does not overwrite what was typed meanwhile', async () => {
    answerWith(() => refusal('stale', 409));
    draft.setText('sent');
    const sent = draft.send();
    draft.setText('typed');
    await sent;
    expect(text()).toBe('sent\n\ntyped');
  });

  it('that was not typed here is in the draft only when there is room', async () => {
    answerWith(() => refusal('busy', 409));
    await draft.send('from a button');
    expect(text()).toBe('from a button');
    draft.setText('mine');
    await draft.send('retry of a turn');
    expect(text()).toBe('mine');
  });

  it('that should have steered keeps its text', async () => {
    answerWith(() => refusal('unsupported', 409));
    draft.setText('rather the other file');
    await draft.send(undefined, { delivery: 'steer' });
    expect(draft.view.getSnapshot()).toMatchObject({
      text: 'rather the other file',
      refusal: { code: 'unsupported' },
    });
  });

  it('does not stop those behind it; several come back in their order', async () => {
    const answers = [() => refusal('busy', 409), accepted, () => refusal('busy', 409)];
    answerWith(...answers);
    const sent = ['one', 'two', 'three'].map(words => {
      draft.setText(words);
      return draft.send();
    });
    draft.setText('typed');
    await Promise.all(sent);
    expect(text()).toBe('one\n\nthree\n\ntyped');
    expect(shown()).toEqual(['two']);
  });

  it('gets a new id when it is sent again, since the refusal stored nothing', async () => {
    answerWith(() => refusal('busy', 409), accepted);
    draft.setText('again');
    await draft.send();
    await draft.send();
    expect(clientIds()).toEqual(['id1', 'id2']);
  });
});

describe('a prompt without an answer', () => {
  it('is sent again under the same id', async () => {
    answerWith(down, down, accepted);
    draft.setText('hello?');
    const sent = draft.send();
    await vi.advanceTimersByTimeAsync(RETRIES);
    await sent;
    expect(clientIds()).toEqual(['id1', 'id1', 'id1']);
    expect(draft.view.getSnapshot()).toMatchObject({ text: '', refusal: null });
  });

  it('comes back in the end with the reason, while that is true, and keeps its id for the next try', async () => {
    answerWith(down, down, down, accepted);
    draft.setText('hello?');
    const sent = draft.send();
    await vi.advanceTimersByTimeAsync(RETRIES);
    await sent;
    expect(draft.view.getSnapshot()).toMatchObject({
      text: 'hello?',
      refusal: { code: 'network' },
    });
    draft.onConnected();
    expect(draft.view.getSnapshot()).toMatchObject({ text: 'hello?', refusal: null });
    await draft.send();
    expect(new Set(clientIds())).toEqual(new Set(['id1']));
  });

  it('leaves the draft when it turns out to have arrived', async () => {
    answerWith(down);
    draft.setText('hello?');
    const sent = draft.send();
    await vi.advanceTimersByTimeAsync(RETRIES);
    await sent;
    draft.arrived(id => id === 'id1');
    expect(draft.view.getSnapshot()).toMatchObject({ text: '', refusal: null });
  });

  it('that arrives while it is tried again is not given back', async () => {
    answerWith(down);
    draft.setText('hello?');
    const sent = draft.send();
    await vi.advanceTimersByTimeAsync(10);
    draft.arrived(id => id === 'id1');
    await vi.advanceTimersByTimeAsync(RETRIES);
    await sent;
    expect(draft.view.getSnapshot()).toMatchObject({ text: '', refusal: null });
  });

  it('gives back those behind it unsent: they must not overtake it', async () => {
    answerWith(down);
    draft.setText('first');
    const sent = draft.send();
    draft.setText('second');
    void draft.send();
    await vi.advanceTimersByTimeAsync(RETRIES);
    await sent;
    expect(new Set(texts())).toEqual(new Set(['first']));
    expect(text()).toBe('first\n\nsecond');
    // and when the first turns out to have arrived, only the second is left
    draft.arrived(id => id === 'id1');
    expect(text()).toBe('second');
  });

  it('that was edited meanwhile is another prompt', async () => {
    answerWith(down);
    draft.setText('hello?');
    const sent = draft.send();
    await vi.advanceTimersByTimeAsync(RETRIES);
    await sent;
    answerWith(accepted);
    draft.setText('hello!');
    await draft.send();
    expect(clientIds().at(-1)).toBe('id2');
  });
});

describe('a project that nobody has decided on', () => {
  const loads = [{ agent: 'claude', kind: 'hooks', path: '.claude/settings.json' }];
  const notTrusted = () => refusal('not_trusted', 409, { path: 'work', digest: 'd1', loads });

  beforeEach(async () => {
    answerWith(notTrusted, accepted);
    draft.setText('start');
    await draft.send();
  });

  it('is asked about, and the prompt waits', () => {
    expect(draft.view.getSnapshot()).toMatchObject({
      text: '',
      sending: false,
      refusal: null,
      trust: { path: 'work', digest: 'd1', loads, deciding: false },
    });
    expect(draft.pending.getSnapshot()).toMatchObject([{ text: 'start', held: true }]);
  });

  it.each([true, false])('decided (%s), the prompt goes on under its id', async trusted => {
    await draft.decideTrust(trusted);
    const [decision] = server.requestsTo(TRUST);
    expect(decision).toMatchObject({ body: { trusted, digest: 'd1' }, byPerson: trusted });
    expect(decision?.path).toBe('projects/trust?path=work');
    expect(clientIds()).toEqual(['id1', 'id1']);
    expect(draft.view.getSnapshot().trust).toBeNull();
  });

  it('that changed meanwhile is asked about again as it is now', async () => {
    const now = [...loads, { agent: 'claude', kind: 'mcp', path: '.mcp.json' }];
    server.answers.set(TRUST, () => refusal('stale', 409));
    server.answers.set('GET projects/trust', () =>
      Response.json({ trusted: null, digest: 'd2', loads: now }),
    );
    await draft.decideTrust(true);
    expect(draft.view.getSnapshot().trust).toMatchObject({
      digest: 'd2',
      loads: now,
      deciding: false,
      failure: { code: 'stale' },
    });
    expect(clientIds()).toEqual(['id1']);
    server.answers.delete(TRUST);
    await draft.decideTrust(true);
    expect(server.requestsTo(TRUST).at(-1)?.body).toEqual({ trusted: true, digest: 'd2' });
    expect(clientIds()).toEqual(['id1', 'id1']);
  });

  it('holds what is sent after it, in order', async () => {
    draft.cancelTrust();
    answerWith(notTrusted, accepted);
    const sent = ['first', 'second'].map(words => {
      draft.setText(words);
      return draft.send();
    });
    await Promise.all(sent);
    expect(draft.pending.getSnapshot()).toMatchObject([{ held: true }, { held: true }]);
    await draft.decideTrust(true);
    expect(texts().slice(-3)).toEqual(['first', 'first', 'second']);
  });

  it('left undecided gives the text back', () => {
    draft.cancelTrust();
    expect(draft.view.getSnapshot()).toMatchObject({ text: 'start', trust: null });
    expect(shown()).toEqual([]);
  });
});
