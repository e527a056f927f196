/** Chats as a whole, over the fake server: what a person does with the conversation itself. */
import type { Attachment, ChatEvent, ForkedEvent, QueueItem } from '../src/protocol/generated';
import { EventWriter } from '../src/testing/events';
import type { FakeServer } from '../src/testing/fake_server';
import { ANSWER, PROMPT } from './texts';

export type ChatStory = {
  events: readonly ChatEvent[];
  /** What `sync` says, beside "nothing runs". */
  sync?: object;
  prepare?: (server: FakeServer) => void;
  /** Names of buttons to press, one after the other. */
  press?: string[];
  draft?: string;
};

const file = (kind: Attachment['kind'], name: string, size: number): Attachment => ({
  id: name,
  kind,
  name,
  size,
  path: `/work/${name}`,
  mime: '',
  detail: null,
});

const item = (id: string, text: string, said: Partial<QueueItem> = {}): QueueItem => ({
  id,
  client_id: id,
  text,
  attachments: [],
  author: { username: 'owner', name: 'Owner' },
  created: '2026-11-30T14:00:00.000Z',
  held_reason: null,
  ...said,
});

const QUEUE = [
  item('a', 'Now do the same for the station model.'),
  item('b', 'Update the figures in the report and keep the old ones as *_v1.png.', {
    attachments: [file('image', 'fig3.png', 0)],
  }),
  item(
    'c',
    'When all tests pass, write a short summary for the meeting: what was wrong, what changed, and the table.',
    { author: { username: 'mara', name: 'Mara' } },
  ),
];

function log(outcome: 'completed' | 'interrupted' = 'completed') {
  const writer = new EventWriter();
  writer.begin('r0', 'What is the test error per weekday?', {
    text: 'What is the test error per weekday?',
  });
  writer.final(
    't0',
    'Working days are at 24.9 rides an hour, Saturday at 41.0 and Sunday at 35.8.',
  );
  writer.complete();
  const attachments = [
    file('cell', 'explore.ipynb · cell 3', 0),
    file('file', 'error-by-hour.csv', 4096),
  ];
  const from = writer.begin('r1', PROMPT, { attachments }).seq;
  writer.toolStart('w', {
    kind: 'write',
    title: '',
    input: { kind: 'write', path: 'features.py', size: 20 },
  });
  writer.toolEnd('w', { output: [], exit_code: null });
  writer.final('t1', ANSWER);
  const to = writer.complete(outcome).seq;
  return { writer, from, to, attachments };
}

function running(): EventWriter {
  const { writer } = log();
  writer.begin('r2', 'Run the whole test suite and fix what fails.');
  writer.plan(
    'Find why weekends are off',
    'Fix the weekend test',
    'Run the test suite',
    'Compare by hour',
  );
  writer.toolStart('t', {
    input: { kind: 'shell', command: 'python -m pytest -q', cwd: null, background: false },
  });
  return writer;
}

const RUNNING = { running: true, run_id: 'r2', phase: 'tool', may_steer: true };

function rewindable(queue: QueueItem[]): Pick<ChatStory, 'events' | 'prepare'> {
  const { writer, attachments } = log();
  return {
    events: writer.events,
    prepare: server => {
      server.answers.set('POST chats/c1/rewind', () =>
        Response.json({
          prompt: { text: PROMPT, attachments },
          method: 'native',
          files: [
            { path: 'features.py', change: 'restore' },
            { path: 'explore.ipynb', change: 'create' },
            { path: 'models/ridge_new.joblib', change: 'delete' },
          ],
          kept: [
            { path: 'train.py', reason: 'You changed it at 14:06.', overwritable: true },
            {
              path: 'data/hourly.parquet',
              reason: 'It is too large to be kept.',
              overwritable: false,
            },
          ],
          queue,
          undo: true,
        }),
      );
    },
  };
}

function rewound(): ChatEvent[] {
  const { writer, from, to } = log();
  const event = writer.rewound(from, to);
  event.files_restored = ['features.py', 'models/ridge_new.joblib'];
  event.files_kept = ['train.py'];
  return writer.events;
}

function forked(kind: ForkedEvent['kind']): ChatEvent[] {
  const { writer } = log();
  writer.add<ForkedEvent>({ type: 'forked', from_chat: 'parent', from_seq: 9, kind });
  return writer.events;
}

export const CHAT_STORIES: Record<string, ChatStory> = {
  queue: {
    events: running().events,
    sync: { ...RUNNING, queue: QUEUE },
    draft: 'Use this sketch for the layout.',
  },
  'queue-edit': { events: running().events, sync: { ...RUNNING, queue: QUEUE }, press: ['Edit'] },
  'queue-plan': {
    events: running().events,
    sync: { ...RUNNING, queue: [...QUEUE, ...QUEUE.map(each => ({ ...each, id: `${each.id}2` }))] },
    press: ['Plan 0 of 4 done · Find why weekends are off'],
  },
  'queue-paused': {
    events: log().writer.events,
    sync: {
      queue: [
        item('a', 'Now do the same for the station model.', {
          held_reason: 'The permission of this chat is now lower than when you wrote this.',
        }),
        ...QUEUE.slice(1),
      ],
      queue_paused: true,
      queue_pause_reason: 'stopped',
    },
    draft: 'One more thing',
  },
  working: { events: running().events, sync: RUNNING },
  actions: { events: log().writer.events, press: [] },
  'rewind-dialog': { ...rewindable(QUEUE), press: ['Rewind#1'] },
  'rewind-refused': {
    ...rewindable([]),
    prepare: server => {
      server.answers.set('POST chats/c1/rewind', () =>
        Response.json(
          { error: { code: 'busy', message: 'An agent is working in this chat.', details: {} } },
          { status: 409 },
        ),
      );
    },
    press: ['Rewind#1'],
  },
  rewound: { events: rewound(), draft: PROMPT },
  'rewound-draft': {
    ...rewindable([]),
    draft: 'half a thought that I had typed',
    press: ['Rewind#1', 'Rewind#dialog'],
  },
  'forked-native': { events: forked('native') },
  'forked-transcript': { events: forked('transcript') },
  interrupted: { events: log('interrupted').writer.events },
  remote: {
    events: running().events,
    sync: {
      ...RUNNING,
      may_steer: false,
      remote: true,
      holder: 'node7, process 4711',
      queue: QUEUE.slice(0, 2),
    },
  },
};
