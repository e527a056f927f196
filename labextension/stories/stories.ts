/** The scenes of the story page, after the pictures of the visual target. */
import type { Ask, PlanEntry } from '../src/protocol/generated';
import type { RunView } from '../src/state/stores';
import type { Turn } from '../src/state/view';
import {
  ask,
  askPart,
  diff,
  PATCH,
  read,
  reasoning,
  run,
  text,
  tool,
  turn,
  user,
} from './fixtures';

export type Story = {
  turns: Turn[];
  asks?: Ask[];
  plan?: PlanEntry[];
  run?: Partial<RunView>;
};

const ANSWER = `Two causes. \`dayofweek > 5\` marks only Sunday as weekend, since Saturday is 5, and \`rush\` is set at 17:00 on every day, so the model learns a commuter peak for Saturdays. I checked where \`rush\` is used before changing it.`;
const CODE =
  '```python\nwe = t.dayofweek >= 5\nrush = df["hour"].isin(RUSH)\ndf["is_weekend"] = we\ndf["rush"] = rush & ~we\n```';
const TABLE = `The weekend error falls by 41 %; weekdays are unchanged within noise.

| MAE, rides per hour | before | after | change |
|---|---:|---:|---:|
| Weekend | 38.4 | 22.7 | −41 % |
| Working day | 24.9 | 24.6 | −1 % |

I did not save \`explore.ipynb\`: it had edits of yours that were not saved yet.`;
const RICH = `# A heading

Some **bold**, *italic*, ~~struck~~ and a [link](https://example.com), a [file](train.py#L40).

- one
- two
  - nested with \`code\`
- [x] done
- [ ] open

1. first
2. second

> A quotation over
> two lines.

It costs $5 and $6 today; the formula is $e^{i\\pi} + 1 = 0$.

![remote picture](https://example.com/plot.png)

${CODE}

---

The end.`;
const PYTEST =
  '\u001b[32m..........\u001b[0m                                                     \u001b[2m[100%]\u001b[0m\n\u001b[32;1m10 passed\u001b[0m\u001b[2m in 1.87s\u001b[0m\n';
const HITS =
  'features.py:22:    df["rush"] = df["hour"].isin([7, 8, 17, 18])\nfeatures.py:31:CATEGORICAL = ["season", "weather", "rush"]\ntrain.py:54:    peaks = df[df["rush"]]\ntests/test_features.py:17:    assert out.loc[17, "rush"]\n';
const PROMPT =
  'Weekend predictions are far too high. Find out why, fix it in features.py and show me the error by hour, before and after.';
const CMD = 'pip install "lightgbm>=4.5" --quiet && python train.py --model lightgbm --folds 5';

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

const waitingTool = run(CMD, '', {
  title: 'Install lightgbm and compare on five folds',
  status: 'running',
  exitCode: null,
  durationMs: null,
  output: null,
  endTime: null,
});
const allowed = run('python -m pytest -q', PYTEST);
const asking = turn(
  user(
    'Try LightGBM on the same folds. If it is better by more than 2 rides, keep it behind a flag in train.py.',
    [['selection', 'train.py:40–96', 0]],
  ),
  [
    reasoning('Folds are made in make_folds(); the seed is fixed, so both models can be compared.'),
    read('train.py'),
    read('pyproject.toml'),
    allowed,
    askPart({
      toolId: allowed.toolId,
      resolution: {
        decision: 'allow',
        optionId: 'chat',
        answers: null,
        message: null,
        by: { username: 'owner', name: 'Owner' },
        time: '',
      },
    }),
    run('python -c "import lightgbm"', 'ModuleNotFoundError: No module named lightgbm', {
      status: 'failed',
      isError: true,
      exitCode: 1,
      durationMs: 400,
    }),
    text(
      '`make_folds` has a fixed seed, so both models see the same five folds. `lightgbm` is not installed here. I would install it into the project’s environment and run the comparison; nothing in `train.py` changes until you have seen the numbers.',
    ),
    waitingTool,
    askPart({ toolId: waitingTool.toolId }),
  ],
  { complete: null },
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

const failed = turn(
  user('Continue with the comparison.'),
  [
    {
      type: 'error',
      key: 'e1',
      seq: 900,
      time: '',
      code: 'provider_signed_out',
      message: 'Kimi Code is not signed in.',
      hint: 'The session has expired. Run `kimi login` in a terminal, then retry; your message is kept.',
      detail: {
        exit_code: 1,
        stderr_tail: 'Error: 401 token expired\n  at session.open (session abc…redacted)',
      },
    },
  ],
  {
    complete: {
      seq: 1,
      outcome: 'failed',
      costUsd: null,
      durationMs: 800,
      numTurns: null,
      time: '',
    },
    usage: null,
  },
);
const interruptedCall = run('python train.py', '', {
  status: 'cancelled',
  exitCode: null,
  durationMs: null,
});
const interrupted = turn(
  user('Retrain on last night’s data and tell me if the error moved.'),
  [
    read('data/nightly.csv'),
    run('wc -l data/nightly.csv', '24'),
    text('The new file has 24 rows. Training now; I will compare on'),
    interruptedCall,
  ],
  {
    complete: {
      seq: 1,
      outcome: 'interrupted',
      costUsd: null,
      durationMs: 48000,
      numTurns: null,
      time: '',
    },
  },
);
const refused: Turn = {
  ...turn(
    null,
    [
      {
        type: 'resume_refused',
        key: 'rr',
        seq: 901,
        time: '',
        provider: 'claude',
        reason: 'No conversation found with session ID 0b1c',
      },
    ],
    { complete: null, usage: null },
  ),
  agent: null,
  runId: null,
};

const question: Ask = ask({
  kind: 'question',
  title: 'Claude Code asks',
  options: [],
  questions: [
    {
      id: 'folds',
      header: 'Folds',
      question: 'How should the folds be made?',
      multi_select: false,
      allow_other: true,
      secret: false,
      options: [
        { label: 'Five blocks in time order', description: 'No leakage from the future' },
        { label: 'Random', description: '' },
      ],
    },
    {
      id: 'metric',
      header: 'Metric',
      question: 'Which error should the comparison rank by?',
      multi_select: true,
      allow_other: true,
      secret: false,
      options: [
        { label: 'Mean absolute error', description: 'Rides per hour, easy to explain' },
        { label: 'RMSE', description: 'Punishes missed peaks' },
        { label: 'Pinball loss at 90 %', description: 'If you plan for busy hours' },
      ],
    },
    {
      id: 'where',
      header: 'Where',
      question: 'Where should it go?',
      multi_select: false,
      allow_other: false,
      secret: false,
      options: [],
    },
  ],
});

const EDIT = `--- a/train.py\n+++ b/train.py\n@@ -52,2 +52,3 @@ def compare\n def compare(models, folds):\n-    return {m: cv(m, folds) for m in models}\n+    rows = [cv(m, folds) for m in models]\n+    return pd.DataFrame(rows)\n`;
const editTool = tool(
  'edit',
  { path: 'train.py' },
  { status: 'running', output: null, endTime: null },
);
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

export const STORIES: Record<string, Story> = {
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
  asking: {
    turns: [asking],
    run: { running: true, phase: 'waiting', runningKey: asking.key },
    asks: [
      ask({
        tool_id: waitingTool.toolId,
        detail:
          'To compare with ridge on the same folds, it needs a package that is not in this environment.',
        input: { kind: 'shell', command: CMD, cwd: 'bike-demand', background: false },
      }),
    ],
  },
  editask: (() => {
    const t = turn(
      user('Return the comparison as a table, so that I can sort it.'),
      [
        reasoning('compare() returns a dict of floats…'),
        read('train.py'),
        read('report.py'),
        text(
          '`compare` returns a plain dict. I would return a data frame with one row per model; `report.py` reads it in one place and still works.',
        ),
        editTool,
        askPart({ toolId: editTool.toolId, diffs: [diff('train.py', EDIT, 2, 1)] }),
      ],
      { complete: null },
    );
    return {
      turns: [t],
      run: { running: true, phase: 'waiting', runningKey: t.key },
      asks: [
        ask({
          title: 'Claude Code wants to edit train.py',
          input: { kind: 'edit', path: 'train.py' },
          diffs: [diff('train.py', EDIT, 2, 1)],
        }),
      ],
    } as Story;
  })(),
  covers: {
    turns: [],
    run: { running: true, phase: 'waiting' },
    asks: [
      ask({
        title: 'Run a command',
        detail: 'Install lightgbm',
        input: { kind: 'shell', command: 'pip install lightgbm', cwd: null, background: false },
        options: [
          { id: 'a', label: 'Allow once', decision: 'allow', scope: 'once', leads_to: null },
          {
            id: 'b',
            label: 'Allow for this chat: Bash(pip install:*)',
            decision: 'allow',
            scope: 'chat',
            leads_to: null,
          },
          { id: 'c', label: 'Deny', decision: 'deny', scope: 'once', leads_to: null },
        ],
      }),
    ],
  },
  evil: {
    turns: [],
    asks: [
      ask({
        title: 'Claude Code wants to run a command',
        detail: 'Clean \u202eup',
        input: {
          kind: 'shell',
          command: 'ls \u202e # fr-mr\u200b\r' + ' '.repeat(90) + '; rm -rf ~',
          cwd: null,
          background: true,
        },
      }),
      ask({}),
    ],
    run: { running: true, phase: 'waiting' },
  },
  question: {
    turns: [
      turn(
        user('Compare ridge and LightGBM properly and write it up in a notebook.'),
        [
          reasoning('Several readings of “properly” are possible: metric, folds, horizon…'),
          read('a.py'),
          read('b.py'),
          text('Before I start, three things decide what the comparison means.'),
        ],
        { complete: null },
      ),
    ],
    asks: [question],
    run: { running: true, phase: 'waiting' },
  },
  planask: {
    turns: [],
    run: { running: true, phase: 'waiting' },
    asks: [
      ask({
        kind: 'plan',
        title: 'Claude Code has a plan',
        detail: '',
        plan:
          '## Plan\n\n1. Read `features.py`\n2. Fix the weekend test\n3. Run the tests\n\n' +
          'More text about it. '.repeat(40),
        options: [
          {
            id: 'auto',
            label: 'Start, accept edits',
            decision: 'allow',
            scope: 'once',
            leads_to: 'accept_edits',
          },
          {
            id: 'ask',
            label: 'Start, ask first',
            decision: 'allow',
            scope: 'once',
            leads_to: 'ask',
          },
          { id: 'no', label: 'Keep planning', decision: 'deny', scope: 'once', leads_to: null },
        ],
      }),
    ],
  },
  errors: { turns: [interrupted, refused, failed] },
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
