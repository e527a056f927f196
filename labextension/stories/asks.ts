/** Asks: permission, edit, question, plan, and a command that hides something. */
import type { Ask } from '../src/protocol/generated';
import { ask, askPart, diff, read, reasoning, run, text, tool, turn, user } from './fixtures';
import type { Story } from './story';
import { CMD, PYTEST } from './texts';

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

export const ASK_STORIES: Record<string, Story> = {
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
};
