// @vitest-environment jsdom
/** What differs between agents, as the thread shows it: who works, who began, what they do not tell. */
import { cleanup, render, screen, within } from '@testing-library/react';
import { afterEach, describe, expect, test } from 'vitest';

import type { ChatEvent } from '../../protocol/generated';
import { applyEvents, emptyLog } from '../../state/reducer';
import { EventWriter } from '../../testing/events';
import { fakeServices } from '../../testing/thread_fixtures';
import { ServicesContext } from '../common/services';
import { Thread } from './Thread';

afterEach(cleanup);

type Of<T extends ChatEvent['type']> = Extract<ChatEvent, { type: T }>;

class Chat extends EventWriter {
  /** A run of `provider`, which tells no model; without a prompt the agent began it. */
  runOf(provider: string, prompt: string | null): void {
    this.run = `run-${this.events.length}`;
    if (prompt !== null) {
      this.user(prompt);
    }
    this.add<Of<'run_started'>>({
      type: 'run_started',
      provider,
      model: null,
      effort: null,
      service_tier: null,
      mode: 'code',
      permission: 'ask',
      continuation: 'fresh',
      cwd: '/project',
      origin: prompt === null ? 'provider' : 'prompt',
    });
  }

  system(subtype: string, data: Record<string, unknown> = {}): void {
    this.add<Of<'system'>>({ type: 'system', subtype, data });
  }

  /** The end as an agent tells it that counts nothing. */
  plainEnd(): void {
    this.add<Of<'complete'>>({
      type: 'complete',
      outcome: 'completed',
      usage: null,
      cost_usd: null,
      duration_ms: null,
      num_turns: null,
    });
    this.run = null;
  }

  answered(provider: string, prompt: string | null, answer: string): void {
    this.runOf(provider, prompt);
    this.final(`answer ${this.events.length}`, answer);
    this.plainEnd();
  }
}

function show(chat: EventWriter) {
  const { turns } = applyEvents(emptyLog(), chat.events);
  const runningKey = turns.at(-1)?.complete === null ? (turns.at(-1)?.key ?? null) : null;
  render(
    <ServicesContext.Provider value={fakeServices()}>
      <Thread
        view={{
          state: 'ready',
          failure: null,
          turns,
          hasOlder: false,
          loadingOlder: false,
          pending: [],
        }}
        run={{ running: runningKey !== null, runningKey }}
        onLoadOlder={() => undefined}
        onReload={() => undefined}
        onRetry={() => undefined}
      />
    </ServicesContext.Provider>,
  );
  const log = screen.getByRole('log');
  return {
    log,
    lines: [...log.querySelectorAll('.ac-rule')].map(line => line.textContent),
    turns: [...log.querySelectorAll('.ac-turn')],
  };
}

describe('an agent that goes on by itself', () => {
  test('has a turn of its own that begins with the reason, told once', () => {
    const chat = new Chat();
    chat.answered('Claude Code', 'Go', 'It runs.');
    chat.runOf('Claude Code', null);
    chat.system('background_task', { status: 'completed', text: 'Tests ended (exit code 0)' });
    chat.final('b', 'They passed.');
    chat.plainEnd();
    const { lines, turns } = show(chat);
    expect(lines).toEqual(['Claude Code went on by itself: Tests ended (exit code 0)']);
    expect(turns).toHaveLength(2);
    expect(turns[0]?.textContent).not.toContain('by itself');
    expect(turns[1]?.firstElementChild?.className).toBe('ac-rule');
    expect(turns[1]?.textContent).toContain('They passed.');
    expect(screen.getAllByRole('article', { name: 'You' })).toHaveLength(1);
  });

  test('has no reason made up for it', () => {
    const chat = new Chat();
    chat.answered('Kimi Code', null, 'Still here.');
    chat.runOf('Kimi Code', null);
    chat.system('background_task', { status: 'failed', text: '' });
    chat.plainEnd();
    expect(show(chat).lines).toEqual([
      'Kimi Code went on by itself',
      'Kimi Code went on by itself: a background task ended',
    ]);
  });
});

describe('another agent in the same chat', () => {
  test('is announced once, above the prompt that it answers', () => {
    const chat = new Chat();
    chat.answered('Claude Code', 'One', 'First.');
    chat.answered('Codex', 'Two', 'Second.');
    chat.answered('Codex', 'Three', 'Third.');
    const { lines, turns } = show(chat);
    expect(lines).toEqual(['Codex works here from now on']);
    expect(turns[1]?.textContent).toMatch(/^Codex works here from now on.*Two/);
  });

  test('is announced on a page of turns that begins with it, too', () => {
    const chat = new Chat();
    for (let i = 0; i < 10; i++) {
      chat.answered('Claude Code', `Prompt ${i}`, 'Done.');
    }
    chat.answered('Codex', 'Now you', 'Done.');
    const { log, lines } = show(chat);
    expect(log.querySelectorAll('.ac-page')).toHaveLength(2);
    expect(lines).toEqual(['Codex works here from now on']);
  });
});

describe('system events', () => {
  test('of a review are one line each', () => {
    const chat = new Chat();
    chat.runOf('Codex', 'Review it');
    chat.system('review_began');
    chat.final('a', 'Looks good.');
    chat.system('review_ended');
    chat.plainEnd();
    expect(show(chat).lines).toEqual(['Review began', 'Review ended']);
  });

  test('that only programs read leave no trace, and do not part the calls around them', () => {
    const chat = new Chat();
    chat.runOf('Codex', 'Work');
    chat.toolStart('a');
    chat.toolEnd('a');
    chat.system('permission_mode', { mode: 'plan' });
    chat.system('title', { title: 'Work' });
    chat.system('from_the_future', { much: 'json' });
    chat.toolStart('b');
    chat.toolEnd('b');
    chat.system('turn_diff', { diff: '+ line' });
    chat.plainEnd();
    const { log, lines } = show(chat);
    expect(lines).toEqual([]);
    expect(screen.getByRole('button', { name: 'Ran 2 commands' })).toBeTruthy();
    expect(log.textContent).not.toMatch(/json|\+ line|from_the_future/);
  });

  test('about a background task that ended during a run are one line', () => {
    const chat = new Chat();
    chat.runOf('Claude Code', 'Go');
    chat.system('background_task', { status: 'completed', text: 'Build ended' });
    chat.plainEnd();
    expect(show(chat).lines).toEqual(['Build ended']);
  });
});

describe('an agent that streams plain text and tells nothing else', () => {
  function onlyText(): Chat {
    const chat = new Chat();
    chat.runOf('Plain', 'Hello');
    chat.delta('a', 'Hel');
    chat.delta('a', 'lo.');
    return chat;
  }

  const chrome = (log: HTMLElement) =>
    [...log.querySelectorAll('article:not(.ac-you) :is(button, [role])')].map(
      element => element.getAttribute('aria-label') ?? element.textContent,
    );

  test('shows its words alone while it works', () => {
    const { log, lines } = show(onlyText());
    const answer = within(log).getByRole('article', { name: 'Plain' });
    expect([...answer.children].map(child => child.className)).toEqual([
      'ac-reply-line',
      'ac-answer',
    ]);
    expect(answer.lastElementChild?.textContent).toBe('Hello.');
    expect(chrome(log)).toEqual([]);
    expect(lines).toEqual([]);
  });

  test('has no empty tool, reasoning or usage below its answer', () => {
    const chat = onlyText();
    chat.final('a', 'Hello.', 3);
    chat.plainEnd();
    const { log } = show(chat);
    const answer = within(log).getByRole('article', { name: 'Plain' });
    expect(chrome(log)).toEqual(['Actions', 'Copy as Markdown']);
    expect(answer.textContent).not.toMatch(/Reasoning|cost|tokens|\b0\b|null|undefined/);
  });

  test('that said nothing has nothing to copy', () => {
    const chat = new Chat();
    chat.runOf('Plain', 'Hello');
    chat.final('a', '');
    chat.plainEnd();
    show(chat);
    expect(screen.queryByRole('button', { name: 'Copy as Markdown' })).toBeNull();
  });
});
