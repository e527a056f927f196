// @vitest-environment jsdom
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import type { RunView } from '../../state/stores';
import { fakeServices, shell, turn } from '../../testing/thread_fixtures';
import { ServicesContext } from '../common/services';
import { english } from '../common/trans';
import { PlanCard } from './PlanCard';
import { usageWords } from './usage';
import { WorkingLine } from './WorkingLine';

const NOW = new Date('2026-11-30T14:03:31.000Z');
const running = turn({
  parts: [shell('pytest -q', { status: 'running', output: null })],
  complete: null,
});

beforeEach(() => {
  vi.useFakeTimers({ now: NOW });
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

function line(changes: Partial<RunView>, onStop: () => void = () => undefined) {
  const run = {
    running: true,
    remote: false,
    phase: 'tool' as const,
    stopping: null,
    lastOutputAt: NOW.getTime(),
    runId: 'r',
    ...changes,
  };
  return <WorkingLine run={run} turn={running} onStop={onStop} />;
}

test('the line says what runs; a screen reader hears the phase, not the seconds', () => {
  render(line({}));
  expect(screen.getByRole('status').textContent).toBe('Running pytest -q');
  expect(screen.getByText('1:31').getAttribute('aria-hidden')).toBe('true');
});

test('without the server the line says what was seen last, and claims nothing more', () => {
  const run = { running: true, remote: false, stopping: null, lastOutputAt: 0, runId: 'r' };
  render(
    <WorkingLine
      run={{ ...run, phase: 'writing' }}
      turn={running}
      offline
      onStop={() => undefined}
    />,
  );
  expect(screen.getByRole('status').textContent).toBe('Last seen:Writing');
  expect(screen.queryByText('1:31')).toBeNull();
  expect(screen.queryByRole('button')).toBeNull();
});

test('after a minute and a half of silence the line says so, but not while a person is asked', () => {
  const lastOutputAt = NOW.getTime() - 90_000;
  const { rerender } = render(line({ lastOutputAt }));
  expect(screen.getByText('No output for 1 m 30 s')).toBeTruthy();
  rerender(line({ lastOutputAt, phase: 'waiting' }));
  expect(screen.queryByText(/No output/)).toBeNull();
});

test('Stop, then patience, then force', () => {
  const onStop = vi.fn();
  const { rerender } = render(line({}, onStop));
  fireEvent.click(screen.getByRole('button', { name: 'Stop' }));
  expect(onStop).toHaveBeenCalledTimes(1);
  rerender(line({ stopping: 'asked' }, onStop));
  fireEvent.click(screen.getByRole('button', { name: 'Stopping…' }));
  expect(onStop).toHaveBeenCalledTimes(1);
  act(() => void vi.advanceTimersByTime(3_000));
  fireEvent.click(screen.getByRole('button', { name: 'Force stop' }));
  expect(onStop).toHaveBeenCalledTimes(2);
});

test('a run of another server cannot be stopped here, and nothing is shown when nothing runs', () => {
  const { rerender } = render(line({ remote: true }));
  expect(screen.queryByRole('button')).toBeNull();
  rerender(line({ running: false }));
  expect(screen.queryByRole('status')).toBeNull();
});

test('the plan is one line with the current step, until it is opened or done', () => {
  const entries = [
    { text: 'Find it', status: 'completed' as const },
    { text: 'Fix it', status: 'in_progress' as const },
  ];
  const plan = (list: Parameters<typeof PlanCard>[0]['entries']) => (
    <ServicesContext.Provider value={services}>
      <PlanCard entries={list} running />
    </ServicesContext.Provider>
  );
  const services = fakeServices();
  const { rerender } = render(plan(entries));
  const button = screen.getByRole('button', { name: 'Plan 1 of 2 done · Fix it' });
  fireEvent.click(button);
  expect(screen.getAllByRole('listitem').map(item => item.textContent)).toEqual([
    'Find it, done',
    'Fix it, in progress',
  ]);
  rerender(plan(entries.map(entry => ({ ...entry, status: 'completed' as const }))));
  expect(screen.queryByRole('button')).toBeNull();
});

const usage = {
  inputTokens: 48_200,
  outputTokens: null,
  cacheReadTokens: 0,
  cacheWriteTokens: null,
  reasoningTokens: null,
  contextUsed: null,
  contextWindow: null,
  costUsd: null,
};

test('what is not known is not shown as zero', () => {
  const words = (changes: Parameters<typeof turn>[0]) =>
    usageWords(turn(changes), english).map(figure => figure.words);
  expect(words({ usage })).toEqual(['1.5 s', '48.2k in', 'cost unknown']);
  expect(words({ usage: null })).toEqual(['1.5 s']);
  expect(words({ usage: { ...usage, costUsd: 0 } })).toContain('$0.00');
});
