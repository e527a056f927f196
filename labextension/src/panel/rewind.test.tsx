// @vitest-environment jsdom
/** Going back: the dialog that asks, the prompt that returns, the way back, and what is never lost meanwhile. */
import { cleanup, fireEvent, screen, within } from '@testing-library/react';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';

import type { ChatEvent, RewindResult } from '../protocol/generated';
import { EventWriter } from '../testing/events';
import { refusal } from '../testing/fake_server';
import { settle, showChat, type ShownChat } from '../testing/panel_fixture';

beforeAll(() => {
  Element.prototype.scrollIntoView = vi.fn();
});
beforeEach(() => localStorage.clear());
afterEach(cleanup);

const REWIND = 'POST chats/c1/rewind';
const UNDO = 'POST chats/c1/rewind/undo';
const image = {
  id: 'u1',
  kind: 'image' as const,
  name: 'plot.png',
  path: '/up/plot.png',
  mime: 'image/png',
  size: 2048,
  detail: null,
};

const RESULT: RewindResult = {
  prompt: { text: 'fix it', attachments: [image] },
  method: 'native',
  files: [
    { path: 'features.py', change: 'restore', added: 3, removed: 12 },
    { path: 'new.joblib', change: 'delete', added: null, removed: null },
  ],
  kept: [
    { path: 'train.py', reason: 'You changed it at 14:06.', overwritable: true },
    { path: 'big.bin', reason: 'It is too large.', overwritable: false },
  ],
  queue: [],
  undo: true,
};

function twoTurns(): { writer: EventWriter; from: number; to: number } {
  const writer = new EventWriter();
  writer.begin('r1', 'look around');
  writer.final('t1', 'Looked.');
  writer.complete();
  const from = writer.begin('r2', 'fix it', { attachments: [image] }).seq;
  writer.final('t2', 'Fixed.');
  const to = writer.complete().seq;
  return { writer, from, to };
}

const field = () => screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Message' });
const button = (name: string) => screen.getByRole('button', { name });
const dialog = () => screen.getByRole('dialog', { name: 'Rewind to this prompt?' });
const said = () => screen.getAllByRole('article', { name: 'You' }).map(one => one.textContent);
/** What was asked of the server; React's strict mode looks twice. */
const asked = ({ server }: ShownChat, dry_run: boolean) =>
  server
    .requestsTo(REWIND)
    .map(({ body }) => body as { dry_run: boolean })
    .filter(body => body.dry_run === dry_run);
const inDialog = (name: string) => within(dialog()).getByRole('button', { name });

async function showRewind(result: Partial<RewindResult> = {}) {
  const log = twoTurns();
  const chat = await showChat(log.writer.events, server => {
    server.answers.set(REWIND, () => Response.json({ ...RESULT, ...result }));
    server.answers.set(UNDO, () => Response.json({ ...RESULT, ...result }));
  });
  return { chat, ...log };
}

/** Opens the dialog at the second prompt. */
async function ask() {
  const [, second] = screen.getAllByRole('article', { name: 'You' });
  fireEvent.click(within(second!).getByRole('button', { name: 'Rewind' }));
  await settle();
}

async function confirm() {
  fireEvent.click(inDialog('Rewind'));
  await settle();
}

/** What the server says once it has cut. */
function cut(writer: EventWriter, from: number, to: number, kept: string[] = []): ChatEvent {
  const event = writer.rewound(from, to);
  event.files_restored = ['features.py', 'new.joblib'];
  event.files_kept = kept;
  return event;
}

describe('the dialog', () => {
  it('asks with the files of a dry run, and Escape leaves everything as it is', async () => {
    const { chat, from } = await showRewind();
    await ask();
    expect(dialog().textContent).toContain(
      'Rewind to this prompt?Messages from this point forward will be removed: 1 prompt and 1 answer.',
    );
    expect(dialog().textContent).toContain('The prompt and its attachment return');
    expect(asked(chat, true)[0]).toEqual({ seq: from, files: 'restore', dry_run: true });
    const files = within(within(dialog()).getByRole('list', { name: 'Changed files' }));
    expect(files.getAllByRole('listitem').map(row => row.textContent)).toEqual([
      'features.py Restored+3 −12 lines',
      'new.joblib Deleted: it was created since',
      'train.py Kept: You changed it at 14:06.',
      'big.bin Kept: It is too large.',
    ]);
    expect(dialog().textContent).toContain('Claude Code rewinds its own conversation.');
    fireEvent(dialog(), new Event('cancel', { cancelable: true }));
    expect(screen.queryByRole('dialog')).toBeNull();
    expect(asked(chat, false)).toEqual([]);
    expect(said()).toHaveLength(2);
  });

  it('puts back what the person has changed only where that was ticked', async () => {
    const { chat, from } = await showRewind();
    await ask();
    fireEvent.click(within(dialog()).getByRole('checkbox', { name: /train\.py/ }));
    await confirm();
    expect(asked(chat, false)[0]).toEqual({
      seq: from,
      files: 'restore',
      overwrite: ['train.py'],
      dry_run: false,
    });
  });

  it('can keep all files', async () => {
    const { chat } = await showRewind();
    await ask();
    fireEvent.click(within(dialog()).getByRole('checkbox', { name: /train\.py/ }));
    fireEvent.click(within(dialog()).getByRole('radio', { name: /^Keep the files/ }));
    await confirm();
    expect(asked(chat, false)[0]).toMatchObject({ files: 'keep', overwrite: [] });
  });

  it('says that the queue is cleared, and that no file was changed', async () => {
    const item = { id: 'q', client_id: 'q', text: 'later', attachments: [], held_reason: null };
    const author = { username: 'owner', name: 'Owner' };
    const queue = [{ ...item, author, created: '2026-01-01T00:00:00.000Z' }];
    await showRewind({ files: [], kept: [], queue, method: 'transcript' });
    await ask();
    expect(dialog().textContent).toContain('The queue is cleared: 1 prompt waits in it.');
    expect(dialog().textContent).toContain('No files were changed since this prompt.');
    expect(dialog().textContent).toContain('starts again with a transcript of what stays.');
  });

  it('stays open with the reason when the server refuses', async () => {
    const { chat } = await showRewind();
    await ask();
    chat.server.answers.set(REWIND, () => refusal('busy', 409));
    await confirm();
    expect(within(dialog()).getByRole('alert').textContent).toBe('refused: busy');
    expect(field().value).toBe('');
  });

  it('is not to be had while the agent works, and says why', async () => {
    const { chat } = await showRewind();
    await chat.sync({ running: true, run_id: 'r3', phase: 'thinking' });
    const [first] = screen.getAllByRole('button', { name: 'Rewind' });
    expect(first!.getAttribute('aria-disabled')).toBe('true');
    expect(first!.title).toBe('Stop the agent first, then rewind.');
    fireEvent.click(first!);
    await settle();
    expect(screen.queryByRole('dialog')).toBeNull();
    expect(chat.server.requestsTo(REWIND)).toEqual([]);
  });

  it('cannot rewind when a run began while it was open', async () => {
    const { chat } = await showRewind();
    await ask();
    await chat.sync({ running: true, run_id: 'r3', phase: 'thinking' });
    fireEvent.click(inDialog('Rewind'));
    await settle();
    expect(asked(chat, false)).toEqual([]);
    expect(within(dialog()).getByRole('alert').textContent).toContain('Stop the agent first');
  });
});

describe('after a rewind', () => {
  it('the prompt is back in the message field with its attachments, and the messages are gone', async () => {
    const { chat, writer, from, to } = await showRewind();
    await ask();
    await confirm();
    await chat.publish([cut(writer, from, to, ['train.py'])]);
    expect(field().value).toBe('fix it');
    expect(button('Remove plot.png')).toBeTruthy();
    expect(said()).toHaveLength(1);
    const bar = screen.getByRole('group', { name: 'Rewind' });
    expect(bar.textContent).toContain('Rewound. 2 files restored. 1 file kept.');
    expect(bar.textContent).toContain('Claude Code rewound its own conversation.');
    expect(bar.textContent).toContain('Kept: train.py You changed it at 14:06.');
    fireEvent.click(button('Send'));
    await settle();
    expect(chat.server.requestsTo('POST chats/c1/prompts')[0]?.body).toMatchObject({
      text: 'fix it',
      attachments: [{ id: 'u1' }],
    });
  });

  it('a draft that stood there is kept over a reload and can be inserted', async () => {
    const { chat, writer, from, to } = await showRewind();
    fireEvent.change(field(), { target: { value: 'half a thought' } });
    await ask();
    await confirm();
    await chat.publish([cut(writer, from, to)]);
    expect(field().value).toBe('fix it');
    const events = chat.server.events;
    cleanup();
    await showChat(events);
    expect(field().value).toBe('fix it');
    fireEvent.click(button('Insert'));
    expect(field().value).toBe('fix it\n\nhalf a thought');
    expect(screen.queryByRole('group', { name: 'Earlier draft' })).toBeNull();
  });

  it('undoing brings back the messages and the earlier draft', async () => {
    const { chat, writer, from, to } = await showRewind();
    fireEvent.change(field(), { target: { value: 'half a thought' } });
    await ask();
    await confirm();
    await chat.publish([cut(writer, from, to)]);
    fireEvent.click(button('Undo rewind'));
    await settle();
    expect(chat.server.requestsTo(UNDO)).toHaveLength(1);
    const back = { ...writer.rewound(from, to), type: 'rewind_undone' as const };
    await chat.publish([back]);
    await settle();
    expect(said()).toEqual(['look around', expect.stringContaining('fix it')]);
    expect(field().value).toBe('half a thought');
    expect(screen.queryByRole('button', { name: 'Undo rewind' })).toBeNull();
  });

  it('undoing leaves a prompt that was changed meanwhile', async () => {
    const { chat, writer, from, to } = await showRewind();
    await ask();
    await confirm();
    await chat.publish([cut(writer, from, to)]);
    fireEvent.change(field(), { target: { value: 'fix it properly' } });
    fireEvent.click(button('Undo rewind'));
    await settle();
    expect(field().value).toBe('fix it properly');
  });

  it('that cannot be undone says why and stays', async () => {
    const { chat, writer, from, to } = await showRewind();
    await chat.publish([cut(writer, from, to)]);
    chat.server.answers.set(UNDO, () => refusal('stale', 409));
    fireEvent.click(button('Undo rewind'));
    await settle();
    expect(screen.getByRole('alert').textContent).toBe('refused: stale');
    expect(button('Undo rewind')).toBeTruthy();
  });

  it('in another tab the messages vanish, come back on undo, and the draft there is left alone', async () => {
    const { chat, writer, from, to } = await showRewind();
    fireEvent.change(field(), { target: { value: 'mine' } });
    await chat.publish([cut(writer, from, to)]);
    expect(said()).toEqual(['look around']);
    expect(button('Undo rewind')).toBeTruthy();
    const back = { ...writer.rewound(from, to), type: 'rewind_undone' as const };
    await chat.publish([back]);
    await settle();
    expect(said()).toHaveLength(2);
    expect(field().value).toBe('mine');
  });

  it('undone in another tab, the prompt that had returned leaves the field again', async () => {
    const { chat, writer, from, to } = await showRewind();
    fireEvent.change(field(), { target: { value: 'half a thought' } });
    await ask();
    await confirm();
    await chat.publish([cut(writer, from, to)]);
    expect(field().value).toBe('fix it');
    await chat.publish([{ ...writer.rewound(from, to), type: 'rewind_undone' as const }]);
    await settle();
    expect(said()).toHaveLength(2);
    expect(field().value).toBe('half a thought');
    expect(screen.queryByRole('group', { name: 'Earlier draft' })).toBeNull();
  });

  it('an undo that the agent does not remember is told as such', async () => {
    const { chat, writer, from, to } = await showRewind();
    const hint = () => screen.queryByText(/^Put essential constraints/);
    await chat.publish([cut(writer, from, to)]);
    const back = { ...writer.rewound(from, to), type: 'rewind_undone' as const };
    await chat.publish([{ ...back, method: 'transcript' }]);
    await settle();
    expect(screen.getByText(/^Rewind undone/).textContent).toBe(
      'Rewind undone · by transcript: the agent gets the visible messages',
    );
    expect(hint()).not.toBeNull();
  });

  it('to the first prompt promises no transcript of what is not there', async () => {
    const { chat, writer, to } = await showRewind({ method: 'transcript' });
    const [first] = screen.getAllByRole('article', { name: 'You' });
    fireEvent.click(within(first!).getByRole('button', { name: 'Rewind' }));
    await settle();
    expect(dialog().textContent).toContain('Claude Code begins anew.');
    expect(dialog().textContent).not.toContain('transcript');
    await confirm();
    const begun = writer.rewound(1, to);
    await chat.publish([{ ...begun, method: 'transcript' }]);
    expect(screen.getByRole('group', { name: 'Rewind' }).textContent).toContain(
      'Claude Code begins anew.',
    );
    expect(screen.queryByText(/^Put essential constraints/)).toBeNull();
  });

  it('the way back ends with the next prompt', async () => {
    const { chat, writer, from, to } = await showRewind();
    await chat.publish([cut(writer, from, to)]);
    const before = writer.events.length;
    writer.begin('r3', 'another way');
    await chat.publish(writer.events.slice(before));
    expect(screen.queryByRole('button', { name: 'Undo rewind' })).toBeNull();
  });

  it('one hint says what the agent may not know; it can be dismissed and comes again next time', async () => {
    const { chat, writer, from, to } = await showRewind();
    const hint = () => screen.queryByText(/^Put essential constraints/);
    expect(hint()).toBeNull();
    await chat.publish([cut(writer, from, to)]);
    expect(hint()).not.toBeNull();
    fireEvent.click(
      within(hint()!.closest<HTMLElement>('.ac-bar')!).getByRole('button', { name: 'Dismiss' }),
    );
    expect(hint()).toBeNull();
    const again = writer.events.length;
    const next = writer.begin('r3', 'another way').seq;
    const end = writer.complete().seq;
    writer.rewound(next, end);
    await chat.publish(writer.events.slice(again));
    expect(hint()).not.toBeNull();
  });

  it('the hint can put changed files and decisions into the message', async () => {
    const writer = new EventWriter();
    writer.begin('r1', 'compare');
    writer.toolStart('w', { kind: 'write', input: { kind: 'write', path: 'a.py', size: 1 } });
    writer.toolEnd('w');
    writer.ask('q', null, {
      kind: 'question',
      questions: [
        {
          id: 'metric',
          header: 'Metric',
          question: 'Which error?',
          multi_select: false,
          options: [],
          secret: false,
          allow_other: true,
        },
      ],
    });
    writer.askResolved('q', { decision: 'answered', answers: { metric: ['MAE'] } });
    writer.complete();
    const from = writer.begin('r2', 'wrong way').seq;
    const to = writer.complete().seq;
    writer.rewound(from, to);
    await showChat(writer.events);
    fireEvent.click(button('Insert a summary'));
    expect(field().value).toBe('Files changed so far: a.py\nDecided so far:\n- Which error? MAE');
  });
});
