/** The side panel as a whole: the list in all its states, search, and what was deleted a moment ago. */
import type { Chat, SearchHit } from '../src/protocol/generated';
import { EventWriter } from '../src/testing/events';
import { chatRow, type FakeServer } from '../src/testing/fake_server';
import type { SidePage } from '../src/testing/side_page';

export type ListStory = {
  prepare: (server: FakeServer) => void;
  perform?: (page: SidePage) => void | Promise<void>;
};

const ago = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();
const row = (id: string, title: string, minutes: number, said: Partial<Chat> = {}): Chat =>
  chatRow(id, {
    title,
    provider: 'claude',
    project: 'bike-demand',
    updated: ago(minutes),
    ...said,
  });

const ROWS: Chat[] = [
  row('p', 'Lab notebook: what we tried', 2 * 24 * 60, { pinned: true }),
  row('a', 'Try LightGBM instead of the linear model', 0, { state: 'waiting' }),
  row('b', 'Weekend error in the demand model', 1, { state: 'running' }),
  row('c', 'Explain the leakage in cell 7', 24, { unread: true }),
  row('d', 'Nightly retrain on the cluster', 60, { attention: 'failed', unread: true }),
  row('e', 'Docstrings for features.py', 26 * 60),
  row('f', 'Same colours in all figures', 6 * 24 * 60, { project: 'thesis/figures' }),
  row('g', 'Scratch', 300, { project: null }),
];

const hit = (seq: number, title: string, snippet: string, minutes: number): SearchHit => ({
  chat_id: 'b',
  seq,
  title,
  snippet: snippet.replaceAll('[', '\ue000').replaceAll(']', '\ue001'),
  time: ago(minutes),
});

const HITS: SearchHit[] = [
  hit(
    4,
    'Weekend error in the demand model',
    '… the [weekend] error is twice that of working days, so Saturday and Sunday …',
    3,
  ),
  hit(
    9,
    'Explain the leakage in cell 7',
    'Is the is_[weekend] column computed before the split?',
    26,
  ),
  hit(12, '', 'tests/test_[weekend]_features_of_the_station_model_with_a_long_name.py', 3000),
];

function withRows(server: FakeServer): void {
  server.rows = [...ROWS];
  server.hits = HITS;
}

function type({ session }: SidePage, query: string): void {
  session.list.setQuery(query);
  session.search.setQuery(query);
}

async function conflict({ server, session, model }: SidePage): Promise<void> {
  model.openId.set('b');
  await new Promise(resolve => setTimeout(resolve, 300));
  const store = session.chat('b');
  store.setDraft('Now compare both models on the same folds.');
  server.draft = {
    text: 'Compare with LightGBM, and write down which folds were used, so that I can repeat it tomorrow at the station.',
    attachments: [],
    revision: 9,
  };
  store.draftSync.flush();
}

function talk(): EventWriter {
  const writer = new EventWriter();
  writer.begin('r', 'What is the test error per weekday?');
  writer.final('t', 'Working days are at 24.9 rides an hour, Saturday at 41.0 and Sunday at 35.8.');
  writer.complete();
  return writer;
}

export const LIST_STORIES: Readonly<Record<string, ListStory>> = {
  list: { prepare: withRows },
  search: { prepare: withRows, perform: page => type(page, 'weekend') },
  'search-more': {
    prepare: server => {
      withRows(server);
      server.hits = Array.from({ length: 34 }, (_, n) => ({ ...HITS[n % 3]!, seq: n + 1 }));
    },
    perform: page => type(page, 'weekend'),
  },
  'search-empty': {
    prepare: server => {
      withRows(server);
      server.hits = [];
    },
    perform: page => type(page, 'okapi'),
  },
  'search-failed': {
    prepare: server => {
      withRows(server);
      server.answers.set('GET search', () => Promise.reject(new Error('no network')));
    },
    perform: page => type(page, 'weekend'),
  },
  deleted: {
    prepare: withRows,
    perform: async ({ session }) => {
      await session.list.remove('c');
      await session.list.remove('f');
    },
  },
  'other-draft': {
    prepare: server => {
      withRows(server);
      server.rows = ROWS.map(chat => ({ ...chat, state: 'idle' }));
      server.draft = { text: '', attachments: [], revision: 0 };
      server.events = talk().events;
    },
    perform: conflict,
  },
};
