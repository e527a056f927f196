import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { SearchHit } from '../protocol/generated';
import { FakeServer, refusal } from '../testing/fake_server';
import { isSearchable, SEARCH_PAUSE_MS, SearchStore } from './search_store';

let server: FakeServer;
let search: SearchStore;

beforeEach(() => {
  vi.useFakeTimers();
  server = new FakeServer();
  search = new SearchStore(server.api);
});
afterEach(() => {
  search.dispose();
  vi.useRealTimers();
});

const hit = (seq: number): SearchHit => ({
  chat_id: 'c1',
  seq,
  title: 'Chat',
  snippet: `${seq}`,
  time: '2026-01-01T00:00:00.000Z',
});
const asked = () => server.requestsTo('GET search').map(({ path }) => path);
const seqs = () => search.getSnapshot().hits.map(({ seq }) => seq);

async function type(...queries: string[]): Promise<void> {
  queries.forEach(query => search.setQuery(query));
  await vi.advanceTimersByTimeAsync(SEARCH_PAUSE_MS);
}

describe('searching what was said', () => {
  it('asks once, a moment after the last key', async () => {
    server.hits = [hit(7)];
    await type('ze', 'zeb', 'zebra');
    expect(asked()).toEqual(['search?q=zebra&limit=30']);
    expect(search.getSnapshot()).toMatchObject({ state: 'ready', more: false });
    expect(seqs()).toEqual([7]);
  });

  it.each([
    ['', false],
    [' a ', false],
    ['ab', true],
    ['水', true],
    ['か', true],
    ['🐑', true],
    ['é', false],
  ])('%j is enough to look for: %s', (query, enough) => {
    expect(isSearchable(query)).toBe(enough);
  });

  it('gives up the request before when somebody types on, and its answer changes nothing', async () => {
    const late: ((response: Response) => void)[] = [];
    server.answers.set('GET search', () => new Promise(resolve => late.push(resolve)));
    await type('zebra');
    await type('okapi');
    const [first, second] = server.requestsTo('GET search');
    expect([first?.signal?.aborted, second?.signal?.aborted]).toEqual([true, false]);
    late[1]?.(Response.json({ hits: [hit(2)], more: false }));
    late[0]?.(Response.json({ hits: [hit(1)], more: false }));
    await vi.advanceTimersByTimeAsync(0);
    expect(seqs()).toEqual([2]);
  });

  it('keeps what was found until the next answer, and forgets it with the query', async () => {
    server.hits = [hit(1)];
    await type('zebra');
    search.setQuery('zebra c');
    expect(search.getSnapshot().state).toBe('searching');
    expect(seqs()).toEqual([1]);
    search.setQuery('');
    expect(search.getSnapshot()).toMatchObject({ state: 'idle', hits: [] });
  });

  it('leaves out titles, which are rows of the list already, and shows more when asked', async () => {
    server.hits = [hit(0), ...Array.from({ length: 40 }, (_, n) => hit(n + 1))];
    await type('zebra');
    expect(search.getSnapshot().more).toBe(true);
    expect(seqs()).toHaveLength(29);
    await search.showMore();
    expect(search.getSnapshot().more).toBe(false);
    expect(seqs()).toHaveLength(40);
  });

  it('says why it failed, and tries again', async () => {
    server.answers.set('GET search', () => refusal('unsupported', 422));
    await type('zebra');
    expect(search.getSnapshot()).toMatchObject({
      state: 'failed',
      failure: { code: 'unsupported' },
    });
    server.answers.delete('GET search');
    await search.retry();
    expect(search.getSnapshot()).toMatchObject({ state: 'ready', failure: null });
  });
});
