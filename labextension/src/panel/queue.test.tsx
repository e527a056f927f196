// @vitest-environment jsdom
/** Writing while the agent works: prompts wait in the queue, which a person orders, edits and empties. */
import { cleanup, fireEvent, screen, within } from '@testing-library/react';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';

import type { QueueItem } from '../protocol/generated';
import { refusal } from '../testing/fake_server';
import { settle, showChat, type ShownChat } from '../testing/panel_fixture';

beforeAll(() => {
  Element.prototype.scrollIntoView = vi.fn();
});
beforeEach(() => localStorage.clear());
afterEach(cleanup);

const RUNNING = { running: true, run_id: 'r', phase: 'tool' };
const PROMPTS = 'POST chats/c1/prompts';

const item = (id: string, text: string, said: Partial<QueueItem> = {}): QueueItem => ({
  id,
  client_id: `client-${id}`,
  text,
  attachments: [],
  author: { username: 'owner', name: 'Owner' },
  created: '2026-01-01T00:00:00.000Z',
  held_reason: null,
  ...said,
});
const THREE = [item('a', 'first'), item('b', 'second'), item('c', 'third')];

const field = () => screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Message' });
const button = (name: string) => screen.getByRole('button', { name });
const rows = () =>
  within(screen.getByRole('list', { name: 'Queued prompts' })).getAllByRole('listitem');
const inRow = (at: number, name: string) => within(rows()[at]!).getByRole('button', { name });

async function write(text: string, verb?: string) {
  fireEvent.change(field(), { target: { value: text } });
  if (verb) {
    fireEvent.click(button(verb));
  } else {
    fireEvent.keyDown(field(), { key: 'Enter' });
  }
  await settle();
}

function bodies({ server }: ShownChat, place = PROMPTS): unknown[] {
  return server.requestsTo(place).map(({ body }) => body);
}

describe('while the agent is working', () => {
  it('the composer says that the next prompt is queued, and Enter queues it', async () => {
    const chat = await showChat();
    expect(button('Send')).toBeTruthy();
    await chat.sync(RUNNING);
    expect(field().placeholder).toBe('Queue next prompt while the agent is working');
    expect(screen.queryByRole('button', { name: 'Send' })).toBeNull();
    expect(button('Queue prompt').getAttribute('aria-label')).toBe('Queue prompt');
    await write('and then the tests');
    expect(bodies(chat)).toMatchObject([{ text: 'and then the tests' }]);
    expect(button('Stop')).toBeTruthy();
  });

  it('several prompts can be sent at once, and are kept until the server has taken them', async () => {
    const answers: ((answer: Response) => void)[] = [];
    const chat = await showChat([], server => {
      server.answers.set(PROMPTS, () => new Promise(resolve => answers.push(resolve)));
    });
    await chat.sync(RUNNING);
    await write('one');
    await write('two');
    expect(rows().map(row => row.textContent)).toEqual(['oneSending…', 'twoSending…']);
    expect(localStorage.getItem('agentchat:draft:c1')).toBe('one\n\ntwo');
    answers.shift()!(Response.json({ queue_item: item('a', 'one') }));
    await settle();
    answers.shift()!(Response.json({ queue_item: item('b', 'two') }));
    await settle();
    expect(localStorage.getItem('agentchat:draft:c1')).toBeNull();
    await chat.sync({ ...RUNNING, queue: [item('a', 'one'), item('b', 'two')] });
    expect(rows().map(row => row.textContent)).toEqual(['1one', '2two']);
  });

  it('Steer is offered only where the agent takes it, and a refused steer keeps the text', async () => {
    const chat = await showChat([], server => {
      server.answers.set(PROMPTS, () => refusal('unsupported', 409));
    });
    await chat.sync(RUNNING);
    expect(screen.queryByRole('button', { name: 'Steer' })).toBeNull();
    await chat.sync({ ...RUNNING, may_steer: true });
    await write('rather the other file', 'Steer');
    expect(bodies(chat)).toMatchObject([{ text: 'rather the other file', delivery: 'steer' }]);
    expect(field().value).toBe('rather the other file');
    expect(screen.getByRole('alert').textContent).toContain('unsupported');
  });

  it('a stop on its way holds the message back and says so', async () => {
    const chat = await showChat();
    await chat.sync({ ...RUNNING, phase: 'cancelling' });
    await write('hello');
    expect(chat.server.requestsTo(PROMPTS)).toHaveLength(0);
    expect(field().value).toBe('hello');
    expect(screen.getByText('Claude Code is stopping. Your message stays here.')).toBeTruthy();
  });
});

describe('the queue', () => {
  const queued = (queue: QueueItem[] = THREE, said: object = {}) => ({
    ...RUNNING,
    queue,
    ...said,
  });

  it('is a list in order, with the author where somebody else wrote, and the reason where it is held', async () => {
    const chat = await showChat();
    await chat.sync(
      queued([
        item('a', 'mine'),
        item('b', 'hers', {
          author: { username: 'mara', name: 'Mara' },
          held_reason: 'Not trusted.',
        }),
      ]),
    );
    const [mine, hers] = rows();
    expect(mine!.textContent).toBe('1mine');
    expect(hers!.textContent).toBe('2Mara hersHeld: Not trusted.');
    expect(inRow(0, 'Move up').getAttribute('aria-disabled')).toBe('true');
    expect(inRow(1, 'Move down').getAttribute('aria-disabled')).toBe('true');
  });

  it('changes its order by the server, and the focus stays with the prompt that was moved', async () => {
    const chat = await showChat();
    await chat.sync(queued());
    inRow(0, 'Move down').focus();
    fireEvent.click(inRow(0, 'Move down'));
    await settle();
    expect(bodies(chat, 'PUT chats/c1/queue')).toEqual([{ order: ['b', 'a', 'c'] }]);
    expect(rows()[0]!.textContent).toContain('first');
    await chat.sync(queued([THREE[1]!, THREE[0]!, THREE[2]!]));
    expect(rows()[1]!.textContent).toContain('first');
    expect(document.activeElement).toBe(inRow(1, 'Move down'));
    expect(screen.getByText('Moved to place 2 of 3')).toBeTruthy();
  });

  it('is edited in place: Enter saves, Escape leaves everything and stops no agent', async () => {
    const chat = await showChat();
    await chat.sync(queued());
    fireEvent.click(inRow(1, 'Edit'));
    const editor = screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Queued prompt' });
    expect(document.activeElement).toBe(editor);
    fireEvent.change(editor, { target: { value: 'second, better' } });
    fireEvent.keyDown(editor, { key: 'Escape' });
    await settle();
    expect(chat.server.requestsTo('POST chats/c1/cancel')).toHaveLength(0);
    expect(document.activeElement).toBe(inRow(1, 'Edit'));
    fireEvent.click(inRow(1, 'Edit'));
    fireEvent.change(screen.getByRole('textbox', { name: 'Queued prompt' }), {
      target: { value: 'second, better' },
    });
    fireEvent.keyDown(screen.getByRole('textbox', { name: 'Queued prompt' }), { key: 'Enter' });
    await settle();
    expect(bodies(chat, 'PATCH chats/c1/queue/b')).toEqual([{ text: 'second, better' }]);
    expect(screen.queryByRole('textbox', { name: 'Queued prompt' })).toBeNull();
    expect(bodies(chat)).toEqual([]);
  });

  it('a prompt that is sent while it is edited gives its text to the message field', async () => {
    const chat = await showChat();
    await chat.sync(queued());
    fireEvent.click(inRow(0, 'Edit'));
    fireEvent.change(screen.getByRole('textbox', { name: 'Queued prompt' }), {
      target: { value: 'first, better' },
    });
    await chat.sync(queued(THREE.slice(1)));
    expect(screen.getByRole('alert').textContent).toContain('first, better');
    fireEvent.click(button('Put it into the message field'));
    expect(field().value).toBe('first, better');
  });

  it('loses a prompt when it is removed, and the focus goes to the next one', async () => {
    const chat = await showChat();
    await chat.sync(queued());
    inRow(0, 'Remove').focus();
    fireEvent.click(inRow(0, 'Remove'));
    await settle();
    expect(chat.server.requestsTo('DELETE chats/c1/queue/a')).toHaveLength(1);
    await chat.sync(queued(THREE.slice(1)));
    expect(rows()).toHaveLength(2);
    expect(document.activeElement).toBe(inRow(0, 'Remove'));
    fireEvent.click(inRow(1, 'Remove'));
    await chat.sync(queued([]));
    expect(screen.queryByRole('list', { name: 'Queued prompts' })).toBeNull();
  });

  it('says why something did not work, such as a prompt that was sent already', async () => {
    const chat = await showChat([], server => {
      server.answers.set('DELETE chats/c1/queue/a', () => refusal('not_found', 404));
    });
    await chat.sync(queued());
    fireEvent.click(inRow(0, 'Remove'));
    await settle();
    expect(screen.getByRole('alert').textContent).toContain('refused: not_found');
    expect(rows()).toHaveLength(3);
  });

  it.each([
    ['stopped', 'Paused: you stopped the agent.'],
    ['failed', 'Paused: the last run failed.'],
    ['interrupted', 'Paused: the last run was interrupted.'],
    ['restarted', 'Paused: the server was restarted.'],
    ['by_hand', 'Paused.'],
  ])('that waits says why (%s) and goes on with Resume', async (queue_pause_reason, words) => {
    const chat = await showChat();
    await chat.sync({ queue: THREE, queue_paused: true, queue_pause_reason });
    expect(screen.getByText(words)).toBeTruthy();
    fireEvent.click(button('Resume'));
    await settle();
    expect(chat.server.requestsTo('POST chats/c1/queue/resume')).toHaveLength(1);
  });

  it('that is paused lets a new prompt go first, or behind the others', async () => {
    const chat = await showChat();
    await chat.sync({ queue: THREE, queue_paused: true, queue_pause_reason: 'stopped' });
    await write('first of all');
    await write('last of all', 'Queue prompt');
    expect(bodies(chat)).toMatchObject([
      { text: 'first of all', delivery: 'now' },
      { text: 'last of all', delivery: 'queue' },
    ]);
  });

  it('can be paused by hand', async () => {
    const chat = await showChat();
    await chat.sync(queued());
    fireEvent.click(button('Pause queue'));
    await settle();
    expect(chat.server.requestsTo('POST chats/c1/queue/pause')).toHaveLength(1);
  });
});

describe('a chat that another server runs', () => {
  it('says so and by whom, and takes no message, no stop and no change of the queue', async () => {
    const chat = await showChat();
    const holder = 'node7/8f1724b7-30aa-499d-96fb-44acabcb5652:10119:1818009:32353';
    await chat.sync({ ...RUNNING, remote: true, holder, queue: THREE });
    expect(screen.getByText('Another server runs this chat.').parentElement!.textContent).toBe(
      'Another server runs this chat. Its host: node7. You can follow it here; write when it has finished.',
    );
    await write('hello');
    expect(chat.server.requestsTo(PROMPTS)).toHaveLength(0);
    expect(field().value).toBe('hello');
    expect(button('Queue prompt').title).toContain('another server');
    expect(screen.queryByRole('button', { name: /Stop|Edit|Remove|Pause/ })).toBeNull();
  });
});

it('the list is not drawn anew by a sync that changes nothing', async () => {
  const chat = await showChat();
  await chat.sync({ ...RUNNING, queue: THREE });
  const store = chat.session.chat('c1');
  const before = store.run.getSnapshot().queue;
  await chat.sync({ ...RUNNING, queue: THREE.map(each => ({ ...each })) });
  expect(store.run.getSnapshot().queue).toBe(before);
});
