import { afterEach, expect, it, vi } from 'vitest';

import type { Provider } from '../protocol/generated';
import { FakeServer, refusal } from '../testing/fake_server';
import { ProvidersStore } from './providers_store';

const tour = { id: 'tour', name: 'Tour' } as unknown as Provider;

afterEach(() => {
  vi.useRealTimers();
});

function answering(providers: Provider[]) {
  const server = new FakeServer();
  server.answers.set('GET providers', () => Response.json({ providers }));
  return { server, store: new ProvidersStore(server.api) };
}

it('agents are asked for once, and again only when the person wants it', async () => {
  const { server, store } = answering([tour]);
  await Promise.all([store.load(), store.load()]);
  await store.load();
  await store.refresh();
  expect(server.requests.map(({ path }) => path)).toEqual(['providers', 'providers?refresh=1']);
  expect(store.getSnapshot()).toMatchObject({ state: 'ready', providers: [tour] });
  expect(store.get('tour')).toEqual(tour);
  expect(store.get(null)).toBeUndefined();
});

it('what a probe finds later replaces what was known', async () => {
  const { store } = answering([tour]);
  await store.load();
  const ready = { ...tour, available: true };
  store.take([ready]);
  expect(store.get('tour')).toBe(ready);
});

it('a failure is shown, and agents that are known stay', async () => {
  const { server, store } = answering([tour]);
  server.answers.set('GET providers', () => refusal('internal', 500));
  await store.load();
  expect(store.getSnapshot()).toMatchObject({ state: 'failed', failure: { code: 'internal' } });
  store.take([tour]);
  await store.refresh();
  expect(store.getSnapshot()).toMatchObject({ state: 'ready', providers: [tour] });
});

it('an agent that is still being looked at is asked for again, until it is known', async () => {
  vi.useFakeTimers();
  const { server, store } = answering([{ ...tour, state: 'probing' }]);
  await store.load();
  server.answers.set('GET providers', () =>
    Response.json({ providers: [{ ...tour, state: 'ready' }] }),
  );
  await vi.advanceTimersByTimeAsync(5_000);
  expect(store.get('tour')).toMatchObject({ state: 'ready' });
  expect(server.requests).toHaveLength(2);
  expect(vi.getTimerCount()).toBe(0);
});
