// @vitest-environment jsdom
/** What can be done with a turn: fork from it, go on after an interruption, try again. */
import { cleanup, fireEvent, screen, within } from '@testing-library/react';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';

import type { ForkedEvent } from '../protocol/generated';
import { EventWriter } from '../testing/events';
import { chatRow, refusal } from '../testing/fake_server';
import { settle, showChat } from '../testing/panel_fixture';

beforeAll(() => {
  Element.prototype.scrollIntoView = vi.fn();
});
beforeEach(() => localStorage.clear());
afterEach(cleanup);

const FORK = 'POST chats/c1/fork';
const PROMPTS = 'POST chats/c1/prompts';
const button = (name: string) => screen.getByRole('button', { name });

function log(outcome: 'completed' | 'failed' | 'interrupted' = 'completed') {
  const writer = new EventWriter();
  writer.begin('r1', 'look around');
  writer.final('t1', 'Looked.');
  const first = writer.complete().seq;
  writer.begin('r2', 'fix it');
  writer.final('t2', 'Fixed.');
  if (outcome === 'failed') {
    writer.add({ type: 'error', code: 'network', message: 'No network.', hint: null, detail: {} });
  }
  const second = writer.complete(outcome).seq;
  return { writer, first, second };
}

describe('fork', () => {
  it('from a message or from the foot of a turn begins with all up to its end, and opens', async () => {
    const { writer, first } = log();
    const { server, opened, session } = await showChat(writer.events, fake => {
      fake.answers.set(FORK, () => Response.json(chatRow('c2'), { status: 201 }));
    });
    const [message] = screen.getAllByRole('article', { name: 'You' });
    const [answer] = screen.getAllByRole('article', { name: 'tour' });
    for (const place of [message!, answer!]) {
      fireEvent.click(within(place).getByRole('button', { name: 'Fork from here' }));
      await settle();
    }
    expect(server.requestsTo(FORK).map(({ body }) => body)).toEqual([
      { after_seq: first },
      { after_seq: first },
    ]);
    expect(opened).toEqual(['c2', 'c2']);
    expect(session.list.get('c2')).toBeDefined();
  });

  it('of the turn that is running takes all that there is', async () => {
    const { writer } = log();
    writer.begin('r3', 'and now');
    const { server, sync } = await showChat(writer.events);
    await sync({ running: true, run_id: 'r3', phase: 'thinking' });
    const last = screen.getAllByRole('article', { name: 'You' }).at(-1)!;
    fireEvent.click(within(last).getByRole('button', { name: 'Fork from here' }));
    await settle();
    expect(server.requestsTo(FORK)[0]?.body).toEqual({ after_seq: null });
  });

  it('that was refused says why and opens nothing', async () => {
    const { writer } = log();
    const { opened } = await showChat(writer.events, fake => {
      fake.answers.set(FORK, () => refusal('storage', 507));
    });
    fireEvent.click(screen.getAllByRole('button', { name: 'Fork from here' })[0]!);
    await settle();
    expect(screen.getByRole('alert').textContent).toContain('refused: storage');
    expect(opened).toEqual([]);
  });

  it.each([
    ['native', 'Forked from Where it began · natively: the agent remembers all of it'],
    [
      'transcript',
      'Forked from Where it began · by transcript: the agent gets the visible messages',
    ],
  ] as const)(
    'says in the new chat where it came from (%s), with the way there',
    async (kind, words) => {
      const { writer } = log();
      writer.add<ForkedEvent>({ type: 'forked', from_chat: 'parent', from_seq: 9, kind });
      const { opened } = await showChat(writer.events);
      const link = button('Where it began');
      expect(link.parentElement!.textContent).toBe(words);
      fireEvent.click(link);
      expect(opened).toEqual(['parent']);
    },
  );
});

describe('the last run', () => {
  it('when it was interrupted goes on with Continue, which is a message that can be seen', async () => {
    const { server } = await showChat(log('interrupted').writer.events);
    expect(screen.getByText('The run was interrupted when the server restarted.')).toBeTruthy();
    fireEvent.click(button('Continue'));
    expect(screen.getAllByRole('article', { name: 'You' }).at(-1)!.textContent).toContain(
      'Continue from where you were interrupted.',
    );
    await settle();
    expect(server.requestsTo(PROMPTS)[0]?.body).toMatchObject({
      text: 'Continue from where you were interrupted.',
      delivery: 'now',
    });
    expect(screen.queryByRole('button', { name: 'Continue' })).toBeNull();
  });

  it('offers Continue neither while something runs nor in an earlier turn', async () => {
    const { writer } = log('interrupted');
    const { sync, publish } = await showChat(writer.events);
    await sync({ running: true, run_id: 'r3', phase: 'starting' });
    expect(screen.queryByRole('button', { name: 'Continue' })).toBeNull();
    await sync();
    expect(button('Continue')).toBeTruthy();
    const before = writer.events.length;
    writer.begin('r3', 'something else');
    writer.complete();
    await publish(writer.events.slice(before));
    expect(screen.queryByRole('button', { name: 'Continue' })).toBeNull();
  });

  it('can be rewound to its prompt where it was interrupted', async () => {
    await showChat(log('interrupted').writer.events, fake => {
      fake.answers.set('POST chats/c1/rewind', () => refusal('unsupported', 422));
    });
    fireEvent.click(button('Rewind to the prompt'));
    await settle();
    expect(screen.getByRole('dialog', { name: 'Rewind to this prompt?' })).toBeTruthy();
  });

  it('when it failed is tried again past a queue that waits because of it', async () => {
    const { server, sync } = await showChat(log('failed').writer.events);
    await sync({ queue_paused: true, queue_pause_reason: 'failed' });
    fireEvent.click(button('Retry'));
    await settle();
    expect(server.requestsTo(PROMPTS)[0]?.body).toMatchObject({ text: 'fix it', delivery: 'now' });
  });
});
