/** Turns: finished, streaming, long, and every state that a part can have. */
import type { PlanEntry } from '../src/protocol/generated';
import { diff, PATCH, read, reasoning, run, text, tool, turn, user } from './fixtures';
import type { Story } from './story';
import { ANSWER, CODE, HITS, PROMPT, PYTEST, RICH, TABLE } from './texts';

const finished = turn(
  user(PROMPT, [
    ['cell', 'explore.ipynb · cell 3', 0],
    ['file', 'error-by-hour.csv', 4096],
  ]),
  [
    reasoning(
      'The weekend rows carry the commuter peak, so “rush” must ignore the weekday. Let me look at what the code does.\n\n1. read\n2. search',
    ),
    read('features.py'),
    read('train.py', 40, 90),
    read('tests/test_features.py'),
    tool(
      'search',
      { query: 'dayofweek', glob: null, path: null },
      { out: 'Found 2 files\nfeatures.py\ntrain.py' },
    ),
    text(ANSWER),
    tool('search', { query: 'rush', glob: '*.py', path: null }, { out: HITS }),
    text('Now the fix.'),
    tool('edit', { path: 'features.py' }, { diffs: [diff('features.py', PATCH, 12, 3)] }),
    run('python -m pytest tests/test_features.py -q', PYTEST),
    text(TABLE),
  ],
);

const streaming = turn(
  user(PROMPT, [['cell', 'explore.ipynb · cell 3', 0]]),
  [
    reasoning('Saturday is 5, so the test “> 5” keeps it among the working days', false),
    read('features.py'),
    read('train.py', 40, 90),
    read('test_features.py'),
    run('pytest -q', 'FAILED', { status: 'failed', isError: true, exitCode: 1 }),
    text(
      `Two causes. \`> 5\` marks only Sunday as weekend, and \`rush\` is set at 17:00 on every day. The smallest fix:\n\n${CODE}\n\nThen hours need a cycle of their own on`,
      false,
    ),
  ],
  { complete: null },
);

const liveRun = { running: true, phase: 'writing' as const, lastOutputAt: Date.now() };

const plan: PlanEntry[] = [
  { text: 'Find why weekends are off', status: 'completed' },
  { text: 'Fix the weekend test', status: 'completed' },
  { text: 'Run the test suite', status: 'in_progress' },
  { text: 'Compare by hour', status: 'pending' },
];

const states = turn(
  user('Show every state.'),
  [
    run('rm -rf build', '', { status: 'denied', exitCode: null, durationMs: null }),
    tool(
      'fetch',
      { url: 'https://example.com/a/very/long/address/that/does/not/fit?query=1' },
      { out: 'Hello' },
    ),
    tool(
      'mcp',
      {
        server: 'github',
        tool: 'create_issue',
        arguments: { title: 'Broken weekend flag', labels: ['bug'] },
      },
      { out: '{"number": 12}' },
    ),
    text('One by one:'),
    tool(
      'mcp',
      {
        server: 'github',
        tool: 'create_issue',
        arguments: { title: 'Broken weekend flag', labels: ['bug'] },
      },
      { out: '{"number": 12}' },
    ),
    text('And:'),
    tool('other', {}, { name: 'Skill', title: 'Load the skill', rawInput: { skill: 'report' } }),
    tool(
      'write',
      { path: 'notes/a‮gnp.txt', size: 20 },
      {
        diffs: [
          {
            path: 'notes/report.md',
            change: 'add',
            old: null,
            new: '# Report\n\nAll is well.\n',
            patch: null,
            added: 3,
            removed: 0,
          },
        ],
      },
    ),
    run('seq 1 200', Array.from({ length: 200 }, (_, i) => String(i + 1)).join('\n')),
    {
      type: 'notice',
      key: 'n1',
      seq: 902,
      time: '',
      level: 'warning',
      code: 'retry',
      text: 'The service is overloaded; trying again in 4 s.',
    },
    { type: 'system', key: 's1', seq: 903, time: '', subtype: 'compaction', data: {} },
  ],
  {
    complete: {
      seq: 1,
      outcome: 'cancelled',
      costUsd: null,
      durationMs: 48000,
      numTurns: null,
      time: '',
    },
  },
);

const rounds = Array.from({ length: 60 }, (_, i) =>
  turn(user(`Question ${i}`), [
    read(`file${i}.py`),
    text(`Answer ${i}. ${ANSWER.repeat((i % 4) + 1)}\n\n${i % 3 === 0 ? CODE : ''}`),
  ]),
);

export const TURN_STORIES: Record<string, Story> = {
  finished: { turns: [finished] },
  streaming: {
    turns: [
      turn(user('What is the test error per weekday?'), [
        run('python err.py', '24.9'),
        text('Working days are at 24.9 rides an hour, Saturday at 41.0 and Sunday at 35.8.'),
      ]),
      streaming,
    ],
    run: { ...liveRun, runningKey: streaming.key },
    plan,
  },
  quiet: {
    turns: [streaming],
    run: {
      running: true,
      phase: 'tool',
      runningKey: streaming.key,
      lastOutputAt: Date.now() - 95_000,
    },
    plan,
  },
  markdown: { turns: [turn(user('Show me Markdown'), [text(RICH)])] },
  states: { turns: [states] },
  long: { turns: rounds },
  live: {
    turns: [...rounds.slice(0, 8), turn(user('Write'), [text(`${RICH}\n\n`.repeat(6) + TABLE)])],
  },
};
