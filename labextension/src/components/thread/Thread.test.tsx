// @vitest-environment jsdom
import { act, cleanup, fireEvent, render, screen, within } from '@testing-library/react';
import { createRef, StrictMode } from 'react';
import { afterEach, expect, test, vi } from 'vitest';

import type { ThreadView } from '../../state/stores';
import type { Part, Turn } from '../../state/view';
import {
  askPart,
  fakeServices,
  readFile,
  shell,
  textPart,
  TIME,
  tool,
  turn,
  userPart,
} from '../../testing/thread_fixtures';
import { ServicesContext } from '../common/services';
import { Thread, type IThreadHandle } from './Thread';

afterEach(cleanup);

interface IShow extends Partial<ThreadView> {
  running?: string;
  onRetry?: (turn: Turn) => void;
}

function show({ running, onRetry, ...view }: IShow) {
  const services = fakeServices();
  const handle = createRef<IThreadHandle>();
  const whole: ThreadView = {
    state: 'ready',
    failure: null,
    turns: [],
    hasOlder: false,
    loadingOlder: false,
    pending: [],
    ...view,
  };
  render(
    <StrictMode>
      <ServicesContext.Provider value={services}>
        <Thread
          ref={handle}
          view={whole}
          run={{ running: running !== undefined, runningKey: running ?? null }}
          onLoadOlder={() => undefined}
          onReload={() => undefined}
          onRetry={onRetry ?? (() => undefined)}
        />
      </ServicesContext.Provider>
    </StrictMode>,
  );
  return { noted: services.noted, handle };
}

const showParts = (parts: Part[], changes: Partial<Turn> = {}, running = false) =>
  show({
    turns: [turn({ parts, ...changes, ...(running ? { complete: null } : {}) })],
    running: running ? 'run-1' : undefined,
  });
const button = (name: string | RegExp) => screen.getByRole('button', { name });
const group = (name: string) => screen.getByRole('group', { name });

test('the conversation is a log of articles, named by who speaks', () => {
  showParts([textPart('Fine.')]);
  const log = screen.getByRole('log', { name: 'Conversation' });
  expect(within(log).getByRole('article', { name: 'You' }).textContent).toContain('Hello');
  const answer = within(log).getByRole('article', { name: 'Claude Code' });
  expect(answer.textContent).toContain('sonnet · high effort');
  expect(answer.textContent).toContain('Fine.');
});

test("a person's text is shown as typed and can be copied", () => {
  const typed = '**not bold**\n  <b>x</b>';
  const { noted } = show({ turns: [turn({ user: userPart(typed) })] });
  expect(screen.getByRole('article', { name: 'You' }).textContent).toContain(typed);
  fireEvent.click(button('Copy'));
  expect(noted.copied).toEqual([typed]);
});

test("somebody else's message has their name", () => {
  show({ turns: [turn({ user: userPart('Hi', { author: { username: 'mara', name: 'Mara' } }) })] });
  expect(screen.getByRole('article', { name: 'Mara' })).toBeTruthy();
});

test('consecutive calls share one line; what failed stays in sight while it is closed', () => {
  showParts([
    readFile('a.py'),
    readFile('b.py'),
    shell('pytest', { status: 'failed', isError: true, exitCode: 1 }),
  ]);
  const line = button('Read 2 files, ran 1 command');
  expect(line.getAttribute('aria-expanded')).toBe('false');
  expect(group('Run: pytest').textContent).toContain('exit 1');
  expect(screen.queryByRole('group', { name: 'Read: a.py' })).toBeNull();
  fireEvent.click(line);
  expect(group('Read: a.py')).toBeTruthy();
});

test('a path opens its file at the line that was read', () => {
  const { noted } = showParts([tool('read', { path: 'train.py', start_line: 40, end_line: 90 })]);
  fireEvent.click(screen.getByTitle('Open train.py'));
  expect(noted.opened).toEqual([['train.py', 40]]);
});

test('an edit shows its counts and its lines; it can be closed and stays closed', () => {
  showParts([
    tool(
      'edit',
      { path: 'a.py' },
      {
        diffs: [
          {
            path: 'a.py',
            change: 'update',
            old: 'a\n',
            new: 'b\nc\n',
            patch: null,
            added: 2,
            removed: 1,
          },
        ],
      },
    ),
  ]);
  const card = group('Edit: a.py');
  expect(card.textContent).toContain('+2 −1');
  expect(within(card).getByRole('table', { name: 'Changes' }).textContent).toContain('added');
  fireEvent.click(button(/^Edit/));
  expect(within(card).queryByRole('table')).toBeNull();
});

test('the end of long output is shown, all of it on demand', () => {
  const text = Array.from({ length: 100 }, (_, i) => `line ${i}`).join('\n');
  showParts([shell('seq', { text, exitCode: 0 })]);
  const output = () => screen.getByRole('group', { name: 'Output' }).textContent;
  expect(output()).toContain('line 99');
  expect(output()).not.toContain('line 50');
  fireEvent.click(button('Show all (88 more lines)'));
  expect(output()).toContain('line 50');
});

test('a call that waits stands alone with its exact command; later it says who allowed it', () => {
  const call = shell('pip install x', { title: 'Install x', status: 'running', output: null });
  const waiting = askPart({ toolId: call.toolId });
  showParts([readFile('a.py'), call, waiting], {}, true);
  const card = group('Run: Install x, waiting for you');
  expect(card.textContent).toContain('Waiting for you');
  expect(within(card).getByRole('group', { name: 'Command' }).textContent).toBe('pip install x');
  cleanup();

  const resolution = {
    decision: 'allow' as const,
    optionId: 'chat',
    answers: null,
    message: null,
    by: { username: 'owner', name: 'Owner' },
    time: TIME,
  };
  showParts([
    shell('pip install x', { exitCode: 0 }),
    askPart({ toolId: call.toolId, resolution }),
  ]);
  expect(group('Run: pip install x').textContent).toContain('allowed by you for this chat');
});

test('"Show in thread" finds the call', () => {
  Element.prototype.scrollIntoView = vi.fn();
  const call = shell('x');
  const { handle } = showParts([call]);
  expect(handle.current?.reveal(call.toolId)).toBe(true);
  expect(handle.current?.reveal('nothing')).toBe(false);
});

test('reasoning is one line until it is opened', () => {
  showParts([
    {
      type: 'reasoning',
      key: 'r',
      seq: 2,
      time: TIME,
      itemId: 'r',
      text: 'First.\nSecond.',
      done: true,
    },
  ]);
  const line = button('Reasoning');
  expect(line.parentElement?.textContent).toContain('First.');
  expect(screen.queryByText(/Second/)).toBeNull();
  fireEvent.click(line);
  expect(screen.getByText(/Second/)).toBeTruthy();
});

const error: Part = {
  type: 'error',
  key: 'e',
  seq: 3,
  time: TIME,
  code: 'provider_signed_out',
  message: 'Claude Code is not signed in.',
  hint: 'Run `claude login` in a terminal.',
  detail: { exit_code: 1, stderr_tail: 'token expired' },
};
const failed = turn({
  parts: [error],
  complete: {
    seq: 4,
    outcome: 'failed',
    costUsd: null,
    durationMs: 800,
    numTurns: null,
    time: TIME,
  },
});

test('an error says what to run, can be tried again, and keeps its details ready', () => {
  const onRetry = vi.fn();
  const { noted } = show({ turns: [failed], onRetry });
  fireEvent.click(button('Copy command'));
  expect(noted.copied).toEqual(['claude login']);
  fireEvent.click(button('Details'));
  expect(screen.getByText(/token expired/).textContent).toContain('exit code 1');
  fireEvent.click(button('Retry'));
  expect(onRetry).toHaveBeenCalledWith(failed);
});

test('only the last turn can be tried again, and not while something runs', () => {
  show({ turns: [failed, turn({ key: 'run-2' })] });
  expect(screen.queryByRole('button', { name: 'Retry' })).toBeNull();
  cleanup();
  show({ turns: [failed], running: 'other' });
  expect(screen.queryByRole('button', { name: 'Retry' })).toBeNull();
});

test('a run that the restart cut off says so, and what may be unfinished', () => {
  showParts([shell('python train.py', { status: 'cancelled' })], {
    complete: {
      seq: 9,
      outcome: 'interrupted',
      costUsd: null,
      durationMs: 48_000,
      numTurns: null,
      time: TIME,
    },
  });
  const note = screen.getByRole('note').textContent;
  expect(note).toContain('The run was interrupted when the server restarted.');
  expect(note).toContain('python train.py');
});

test('hidden characters in names are shown wherever they stand', () => {
  showParts([readFile('a\u202egnp.exe')]);
  expect(group('Read: a[U+202E]gnp.exe').textContent).toContain('U+202E');
});

const onItsWay = (place: 'thread' | 'queue') => ({
  clientId: place,
  text: 'On its way',
  attachments: [],
  place,
});

test('a prompt on its way stands at the end, and the chat can fail to load', () => {
  show({ turns: [], pending: [onItsWay('thread')] });
  expect(screen.getByRole('article', { name: 'You' }).textContent).toContain('Sending…');
  cleanup();
  show({ turns: [], pending: [onItsWay('queue')] });
  expect(screen.queryByRole('article')).toBeNull();
  cleanup();
  show({ state: 'failed', failure: { code: 'storage', message: 'Disk full.', details: {} } });
  expect(screen.getByText('Disk full.')).toBeTruthy();
});

test('older turns appear when they have been rendered, and none is lost', async () => {
  const services = fakeServices();
  const view = (turns: Turn[]) => (
    <ServicesContext.Provider value={services}>
      <Thread
        view={{
          state: 'ready',
          failure: null,
          turns,
          hasOlder: true,
          loadingOlder: false,
          pending: [],
        }}
        run={{ running: false, runningKey: null }}
        onLoadOlder={() => undefined}
        onReload={() => undefined}
        onRetry={() => undefined}
      />
    </ServicesContext.Provider>
  );
  const late = turn({ key: 'late', user: userPart('Late') });
  const early = turn({ key: 'early', user: userPart('Early'), parts: [textPart('Before.')] });
  const { rerender } = render(view([late]));
  rerender(view([early, late]));
  expect(screen.queryByText('Early')).toBeNull();
  await act(() => vi.waitFor(() => screen.getByText('Early')));
  const texts = screen.getAllByRole('article', { name: 'You' }).map(one => one.textContent);
  expect(texts).toEqual(['Early', 'Late']);
});
