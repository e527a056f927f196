// @vitest-environment jsdom
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import { StrictMode } from 'react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import type { Ask } from '../../protocol/generated';
import type { AnswerOutcome } from '../../state/stores';
import { ask, fakeServices, question } from '../../testing/thread_fixtures';
import { ServicesContext } from '../common/services';
import { AskArea } from './AskArea';
import type { Answer } from './useAnswer';

let answers: [string, Answer][] = [];
let outcome: AnswerOutcome = { ok: true };

const services = fakeServices();

function area(asks: Ask[], takeFocus: boolean, locked = false) {
  return (
    <StrictMode>
      <ServicesContext.Provider value={services}>
        <div className="ac-root">
          <AskArea
            asks={asks}
            agentName="Claude Code"
            locked={locked}
            onShow={() => undefined}
            takeFocus={takeFocus}
            onAnswer={(id, answer) => {
              answers.push([id, answer]);
              return Promise.resolve(outcome);
            }}
          />
          <textarea aria-label="Message" />
        </div>
      </ServicesContext.Provider>
    </StrictMode>
  );
}

const show = (asks: Ask[], takeFocus = false) => render(area(asks, takeFocus));

const wait = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));
const press = (name: string) => fireEvent.click(screen.getByRole('button', { name }));
const card = () => screen.getByRole('alertdialog');

beforeEach(() => {
  answers = [];
  outcome = { ok: true };
  vi.useFakeTimers();
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

test('a card has the name, the words and the buttons that the contract gives them', () => {
  show([ask()]);
  expect(
    screen.getByRole('alertdialog', { name: 'Claude Code wants to run a command' }),
  ).toBeTruthy();
  expect(screen.getByRole('group', { name: 'Command' }).textContent).toBe('pip install lightgbm');
  const names = [
    'Allow once',
    'Allow for this chat',
    'Deny',
    'Deny with a reason…',
    'Show in thread',
  ];
  names.forEach(name => expect(screen.getByRole('button', { name })).toBeTruthy());
});

test('a yes in the first half second does not count, a no does', async () => {
  show([ask()]);
  press('Allow once');
  fireEvent.keyDown(card(), { key: 'y' });
  expect(answers).toEqual([]);
  await wait(499);
  press('Allow once');
  expect(answers).toEqual([]);
  press('Deny');
  expect(answers).toEqual([['ask-1', { decision: 'deny', option_id: 'no' }]]);
});

test('after half a second a yes counts once, however often it is pressed', async () => {
  show([ask()]);
  await wait(500);
  press('Allow for this chat');
  press('Allow once');
  expect(answers).toEqual([['ask-1', { decision: 'allow', option_id: 'chat' }]]);
});

test('the next ask is inert again', async () => {
  const view = show([ask()]);
  await wait(600);
  view.unmount();
  show([ask({ ask_id: 'ask-2' })]);
  press('Allow once');
  expect(answers).toEqual([]);
});

test.each([
  ['y', 'once'],
  ['A', 'chat'],
  ['n', 'no'],
])('the key %s in the card answers %s', async (key, option) => {
  show([ask()]);
  await wait(600);
  fireEvent.keyDown(screen.getByRole('group', { name: 'Command' }), { key });
  expect(answers[0]?.[1].option_id).toBe(option);
});

test('keys are not heard outside the card, while one is held, with Ctrl, or in a text field', async () => {
  show([ask()]);
  await wait(600);
  fireEvent.keyDown(screen.getByRole('textbox', { name: 'Message' }), { key: 'y' });
  fireEvent.keyDown(card(), { key: 'y', repeat: true });
  fireEvent.keyDown(card(), { key: 'y', ctrlKey: true });
  press('Deny with a reason…');
  fireEvent.keyDown(screen.getByRole('textbox', { name: 'Reason, for the agent' }), { key: 'y' });
  expect(answers).toEqual([]);
});

test('a no can carry a reason', () => {
  show([ask()]);
  press('Deny with a reason…');
  fireEvent.change(screen.getByRole('textbox', { name: 'Reason, for the agent' }), {
    target: { value: ' use conda ' },
  });
  press('Send reason');
  expect(answers).toEqual([['ask-1', { decision: 'deny', option_id: 'no', message: 'use conda' }]]);
});

test('what an answer covers beyond this call is written out, not squeezed into the button', async () => {
  const option = ask().options[1]!;
  show([
    ask({
      title: 'Run a command',
      options: [{ ...option, label: 'Allow for this chat: pip install:*' }],
    }),
  ]);
  const button = screen.getByRole('button', { name: 'Allow for this chat' });
  const note = document.getElementById(button.getAttribute('aria-describedby') ?? '');
  expect(note?.textContent).toBe('“Allow for this chat” covers: pip install:*');
  expect(screen.getByRole('alertdialog', { name: 'Run a command' }).textContent).toContain(
    'Claude Code asks: Run a command',
  );
  await wait(600);
  press('Allow for this chat');
  expect(answers[0]?.[1].option_id).toBe('chat');
});

test('there is always a way to say no', () => {
  show([ask({ options: [] })]);
  press('Deny');
  expect(answers).toEqual([['ask-1', { decision: 'deny', option_id: null }]]);
});

test('what would be hidden in a command is shown', () => {
  const command = 'ls \u202e#\r; rm';
  show([ask({ input: { kind: 'shell', command, cwd: null, background: false } })]);
  expect(screen.getByRole('group', { name: 'Command' }).textContent).toBe('ls U+202E#U+000D; rm');
});

test('a refused answer says why and can be given again', async () => {
  outcome = {
    ok: false,
    failure: { code: 'forbidden', message: 'Use the browser session.', details: {} },
  };
  show([ask()]);
  await wait(600);
  await act(async () => {
    press('Allow once');
    await Promise.resolve();
  });
  expect(screen.getByRole('alert').textContent).toBe('Use the browser session.');
  await act(async () => {
    press('Deny');
    await Promise.resolve();
  });
  expect(answers).toHaveLength(2);
});

test('a server that cannot take it is given no answer, and what went wrong is forgotten when it is back', async () => {
  const failure = { code: 'network', message: 'No server.', details: {} } as const;
  outcome = { ok: false, failure };
  const { rerender } = show([ask()]);
  await wait(600);
  press('Allow once');
  await wait(0);
  expect(screen.queryByRole('alert')).not.toBeNull();
  rerender(area([ask()], false, true));
  for (const name of ['Allow once', 'Deny']) {
    expect(screen.getByRole('button', { name }).getAttribute('aria-disabled')).toBe('true');
    press(name);
  }
  fireEvent.keyDown(card(), { key: 'y' });
  expect(answers).toHaveLength(1);
  rerender(area([ask()], false, false));
  expect(screen.queryByRole('alert')).toBeNull();
  press('Deny');
  await wait(0);
  expect(answers).toHaveLength(2);
});

test.each([
  ['an empty message gives the focus to the command, not to a button', true, 'Command'],
  ['a half-written message keeps the focus', false, 'Message'],
])('%s', (_, takeFocus, name) => {
  const view = show([]);
  screen.getByRole('textbox', { name: 'Message' }).focus();
  view.rerender(area([ask()], takeFocus));
  expect(document.activeElement?.getAttribute('aria-label')).toBe(name);
});

test('an ask takes no focus from elsewhere in JupyterLab', () => {
  show([ask()], true);
  expect(document.activeElement).toBe(document.body);
});

test('the edit that is asked for is shown whole, with its file', () => {
  const lines = Array.from({ length: 90 }, (_, i) => `line ${i}`).join('\n');
  show([
    ask({
      input: { kind: 'edit', path: 'train.py' },
      diffs: [
        {
          path: 'src/train.py',
          change: 'add',
          old: null,
          new: lines,
          patch: null,
          added: 90,
          removed: 0,
        },
      ],
    }),
  ]);
  expect(screen.getByText('line 89')).toBeTruthy();
  expect(screen.getByText('src/train.py')).toBeTruthy();
});

const QUESTIONS = [
  question({ id: 'folds', header: 'Folds', question: 'How many folds?', allow_other: false }),
  question({ multi_select: true }),
];
const asks = [ask({ kind: 'question', options: [], questions: QUESTIONS })];

test('questions come one by one, with a way back, and are sent together at the end', async () => {
  show(asks);
  await wait(600);
  expect(screen.getByRole('form', { name: 'Question' })).toBeTruthy();
  press('Next');
  expect(screen.getByText('How many folds?')).toBeTruthy();

  fireEvent.click(screen.getByRole('radio', { name: /MAE/ }));
  press('Next');
  expect(screen.getByText('Which error?')).toBeTruthy();
  press('Change Folds');
  fireEvent.click(screen.getByRole('radio', { name: /RMSE/ }));
  press('Next');
  press('Back');
  press('Next');

  fireEvent.click(screen.getByRole('checkbox', { name: /MAE/ }));
  fireEvent.click(screen.getByRole('checkbox', { name: /Other/ }));
  press('Submit answer');
  expect(answers).toEqual([]);
  fireEvent.change(screen.getByRole('textbox', { name: 'Other' }), { target: { value: 'MAPE' } });
  press('Submit answer');
  expect(answers).toEqual([
    [
      'ask-1',
      {
        decision: 'answered',
        answers: { folds: ['RMSE'], metric: ['MAE', 'MAPE'] },
        message: null,
      },
    ],
  ]);
});

test('number keys choose, but type digits in a text field', async () => {
  show(asks);
  await wait(600);
  fireEvent.keyDown(screen.getByRole('form'), { key: '2' });
  expect(screen.getByRole<HTMLInputElement>('radio', { name: /RMSE/ }).checked).toBe(true);
  fireEvent.keyDown(screen.getByRole('textbox', { name: /Note to the agent/ }), { key: '1' });
  expect(screen.getByRole<HTMLInputElement>('radio', { name: /RMSE/ }).checked).toBe(true);
});

test('a secret is typed into a password field and never shown again', async () => {
  show([
    ask({
      kind: 'question',
      questions: [question({ id: 'key', header: 'Key', secret: true, options: [] }), question()],
    }),
  ]);
  await wait(600);
  const field = screen.getByLabelText<HTMLInputElement>('Answer');
  expect(field.type).toBe('password');
  fireEvent.change(field, { target: { value: 's3cret' } });
  press('Next');
  expect(document.body.textContent).not.toContain('s3cret');
});

test('a plan is read as Markdown, and a no may say what to change', () => {
  show([
    ask({
      kind: 'plan',
      title: 'Claude Code has a plan',
      plan: 'Fix the test',
      options: [
        { id: 'go', label: 'Start', decision: 'allow', scope: 'once', leads_to: 'accept_edits' },
        { id: 'no', label: 'Keep planning', decision: 'deny', scope: 'once', leads_to: null },
      ],
    }),
  ]);
  expect(screen.getByRole('group', { name: 'Plan' }).textContent).toBe('Fix the test');
  press('Say what to change…');
  fireEvent.change(screen.getByRole('textbox', { name: 'What should change?' }), {
    target: { value: 'Tests first' },
  });
  press('Send reason');
  expect(answers[0]?.[1]).toEqual({ decision: 'deny', option_id: 'no', message: 'Tests first' });
});
