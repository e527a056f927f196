/** Runs that did not end well. */
import type { Turn } from '../src/state/view';
import { read, run, text, turn, user } from './fixtures';
import type { Story } from './story';

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

export const END_STORIES: Record<string, Story> = {
  errors: { turns: [interrupted, refused, failed] },
};
