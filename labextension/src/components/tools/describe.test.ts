import { expect, test } from 'vitest';

import { readFile, shell, tool } from '../../testing/thread_fixtures';
import { english } from '../common/trans';
import { groupSummary, subjectOf } from './describe';

const summary = (...tools: Parameters<typeof groupSummary>[0]): string =>
  groupSummary(tools, english);

test('a group says what was done, in the order in which it began', () => {
  expect(summary(readFile('a'), shell('x'), readFile('b'), shell('y'), readFile('c'))).toBe(
    'Read 3 files, ran 2 commands',
  );
  expect(summary(readFile('a'), tool('search', { query: 'x', path: null, glob: null }))).toBe(
    'Read 1 file, searched once',
  );
});

test('the same file counts once, however often it was read', () => {
  expect(summary(readFile('a', { toolId: '1' }), readFile('a', { toolId: '2' }))).toBe(
    'Read 1 file',
  );
});

test('a denied command was not run', () => {
  expect(summary(readFile('a'), shell('rm', { status: 'denied' }))).toBe('Read 1 file');
  expect(summary(shell('rm', { status: 'denied' }))).toBe('1 call denied');
});

test('the lines that were read stand behind the path', () => {
  const input = { kind: 'read', path: 'train.py', start_line: 40, end_line: 90 } as const;
  expect(subjectOf(input, '', 'Read')).toMatchObject({ text: 'train.py:40–90', line: 40 });
});

test('a command shows itself unless the agent has said what it is for', () => {
  const input = { kind: 'shell', command: 'pip install x', cwd: null, background: false } as const;
  expect(subjectOf(input, 'pip install x', 'Bash')).toEqual({
    kind: 'code',
    text: 'pip install x',
  });
  expect(subjectOf(input, 'Install x', 'Bash')).toEqual({ kind: 'words', text: 'Install x' });
});
