import { beforeEach, describe, expect, it } from 'vitest';

import type { Chat } from '../protocol/generated';
import { chatRow, FakeServer, refusal } from '../testing/fake_server';
import { dayOf } from './list_groups';
import { ListStore } from './list_store';

let server: FakeServer;
let list: ListStore;

beforeEach(() => {
  server = new FakeServer();
  list = new ListStore(server.api);
});

/** Noon, so that the local day is the same in most of the world; tests compare through `dayOf` anyway. */
function at(day: number): string {
  return `2026-03-${String(day).padStart(2, '0')}T12:00:00.000Z`;
}

async function loaded(...rows: Chat[]): Promise<void> {
  server.rows = rows;
  await list.load();
}

function shown(): string[] {
  const { groups } = list.getSnapshot();
  return groups.flatMap(group => group.days.flatMap(day => day.chats.map(chat => chat.id)));
}

describe('the list', () => {
  it('has pinned chats first, then projects by their latest activity, by day', async () => {
    await loaded(
      chatRow('old', { project: 'a', updated: at(1) }),
      chatRow('new', { project: 'a', updated: at(5) }),
      chatRow('other', { project: 'b', updated: at(4) }),
      chatRow('root', { project: '', updated: at(2) }),
      chatRow('loose', { project: null, updated: at(6) }),
      chatRow('pin', { project: 'b', updated: at(1), pinned: true }),
    );
    const groups = list.getSnapshot().groups.map(({ key, kind, project, days }) => ({
      key,
      kind,
      project,
      days: days.map(({ day, chats }) => [day, ...chats.map(({ id }) => id)]),
    }));
    expect(groups).toEqual([
      { key: 'pinned', kind: 'pinned', project: null, days: [[dayOf(at(1)), 'pin']] },
      { key: 'loose', kind: 'loose', project: null, days: [[dayOf(at(6)), 'loose']] },
      {
        key: 'project:a',
        kind: 'project',
        project: 'a',
        days: [
          [dayOf(at(5)), 'new'],
          [dayOf(at(1)), 'old'],
        ],
      },
      { key: 'project:b', kind: 'project', project: 'b', days: [[dayOf(at(4)), 'other']] },
      { key: 'project:', kind: 'project', project: '', days: [[dayOf(at(2)), 'root']] },
    ]);
  });

  it('counts what runs, needs the person and is unread, archived ones aside', async () => {
    await loaded(
      chatRow('a', { state: 'running' }),
      chatRow('b', { state: 'waiting', unread: true }),
      chatRow('c', { attention: 'needs_input' }),
      chatRow('d', { attention: 'finished', unread: true }),
    );
    list.take(chatRow('e', { archived: true, unread: true }));
    expect(list.getSnapshot().counts).toEqual({ running: 1, needsYou: 2, unread: 2 });
  });

  it.each([
    ['all', ['a', 'b', 'c']],
    ['running', ['a']],
    ['needs_you', ['b']],
    ['unread', ['c']],
  ] as const)('filtered by %s', async (filter, ids) => {
    await loaded(
      chatRow('a', { state: 'running' }),
      chatRow('b', { state: 'waiting' }),
      chatRow('c', { unread: true }),
    );
    list.setFilter(filter);
    expect(shown().sort()).toEqual([...ids]);
  });

  it('finds words of title and project in any order', async () => {
    await loaded(chatRow('a', { title: 'Fix the Plot', project: 'work' }), chatRow('b'));
    list.setQuery('plot WORK');
    expect(shown()).toEqual(['a']);
    expect(list.getSnapshot()).toMatchObject({ shown: 1, total: 2 });
  });

  it('asks for archived chats when they are wanted', async () => {
    await loaded(chatRow('a'), chatRow('z', { archived: true }));
    expect(shown()).toEqual(['a']);
    list.setFilter('archived');
    await new Promise(resolve => setTimeout(resolve, 0));
    expect(shown()).toEqual(['z']);
  });

  it('keeps a row of a frame that is newer than the page on its way', async () => {
    server.rows = [chatRow('a', { title: 'old' }), chatRow('b')];
    const load = list.load();
    list.take(chatRow('a', { title: 'new' }));
    list.take(chatRow('b'));
    list.drop('b');
    await load;
    expect(list.get('a')?.title).toBe('new');
    expect(list.get('b')).toBeUndefined();
  });

  it('forgets rows that are gone when it is loaded again', async () => {
    await loaded(chatRow('a'), chatRow('b'));
    await loaded(chatRow('b'));
    expect(shown()).toEqual(['b']);
  });

  it('goes on by pages, and searches what is not loaded', async () => {
    const pages = [
      { chats: [chatRow('a')], next_cursor: 'next', elsewhere: 3 },
      { chats: [chatRow('far')], next_cursor: null, elsewhere: 3 },
      { chats: [chatRow('b')], next_cursor: null, elsewhere: 3 },
    ];
    server.answers.set('GET chats', () => Response.json(pages.shift()));
    await list.load();
    expect(list.getSnapshot()).toMatchObject({ hasMore: true, elsewhere: 3 });
    list.setQuery('far');
    await new Promise(resolve => setTimeout(resolve, 0));
    expect(shown()).toEqual(['far']);
    expect(server.requests.at(-1)?.path).toContain('q=far');
    list.setQuery('');
    await Promise.all([list.loadMore(), list.loadMore()]);
    expect(shown().sort()).toEqual(['a', 'b', 'far']);
    expect(list.getSnapshot().hasMore).toBe(false);
  });

  it('says why it could not load, and keeps the rows it has', async () => {
    server.answers.set('GET chats', () => refusal('storage', 507));
    await list.load();
    expect(list.getSnapshot()).toMatchObject({ state: 'failed', failure: { code: 'storage' } });
    server.answers.clear();
    await loaded(chatRow('a'));
    server.answers.set('GET chats', () => refusal('storage', 507));
    await list.load();
    expect(list.getSnapshot()).toMatchObject({ state: 'ready', failure: { code: 'storage' } });
    expect(shown()).toEqual(['a']);
  });

  it('is the same object until something changed', async () => {
    await loaded(chatRow('a'));
    expect(list.getSnapshot()).toBe(list.getSnapshot());
  });
});

describe('making and changing chats', () => {
  it('goes by the person when it starts or raises above code + ask', async () => {
    server.answers.set('POST chats', () => Response.json(chatRow('n'), { status: 201 }));
    server.answers.set('PATCH chats/n', () => Response.json(chatRow('n')));
    await list.create({ project: '' });
    await list.create({ mode: 'plan', permission: 'ask' });
    await list.create({ permission: 'full' });
    await list.create({ mode: 'full_auto' });
    await list.patch('n', { title: 't' });
    await list.patch('n', { permission: 'accept_edits' });
    expect(server.requests.map(({ byPerson }) => byPerson)).toEqual([
      false,
      false,
      true,
      true,
      false,
      true,
    ]);
    expect(shown()).toEqual(['n']);
  });

  it('deletes and restores', async () => {
    await loaded(chatRow('a'));
    await list.remove('a');
    expect(shown()).toEqual([]);
    await list.restore('a');
    expect(shown()).toEqual(['a']);
  });

  it('offers to bring back each chat that was deleted here, until that was done or dismissed', async () => {
    await loaded(chatRow('a'), chatRow('b'), chatRow('c'));
    await Promise.all(['a', 'b', 'c'].map(id => list.remove(id)));
    const deleted = () => list.getSnapshot().deleted.map(({ title }) => title);
    expect(deleted()).toEqual(['Chat a', 'Chat b', 'Chat c']);
    await list.restore('b');
    list.forgetDeleted('c');
    expect(deleted()).toEqual(['Chat a']);
    expect(shown()).toEqual(['b']);
  });

  it('takes the row away at once, and puts it back when the server refuses', async () => {
    await loaded(chatRow('a'));
    server.answers.set('DELETE chats/a', () => refusal('busy', 409));
    const removing = list.remove('a');
    expect(shown()).toEqual([]);
    await expect(removing).rejects.toThrow();
    expect(shown()).toEqual(['a']);
    expect(list.getSnapshot().deleted).toEqual([]);
  });

  it('says why a chat is not back, and goes on offering it', async () => {
    await loaded(chatRow('a'));
    await list.remove('a');
    server.answers.set('POST chats/a/restore', () => refusal('not_found', 404));
    await list.restore('a');
    expect(list.getSnapshot().deleted).toMatchObject([{ id: 'a', failure: { code: 'not_found' } }]);
  });

  it('marks read up to the end', async () => {
    await loaded(chatRow('a', { unread: true, last_seq: 12 }));
    await list.markRead('a');
    expect(server.requestsTo('POST chats/a/read')[0]?.body).toEqual({ seq: 12 });
  });
});
