// @vitest-environment jsdom
/** The chat list by role, name and keyboard. */
import { act, cleanup, fireEvent, render, screen, within } from '@testing-library/react';
import { StrictMode } from 'react';
import { afterEach, describe, expect, it, vi } from 'vitest';

import type { Chat, SearchHit } from '../../protocol/generated';
import type { ListView, SearchView } from '../../state/stores';
import { ChatList, type IChatListProps } from './ChatList';

afterEach(cleanup);

function chat(id: string, title: string, marks: Partial<Chat> = {}): Chat {
  return {
    id,
    title,
    provider: 'claude',
    state: 'idle',
    attention: null,
    unread: false,
    wants: null,
    queued: 0,
    queue_paused: false,
    updated: new Date().toISOString(),
    ...marks,
  } as Chat;
}

const TODAY = new Date();
const DAY = [
  TODAY.getFullYear(),
  String(TODAY.getMonth() + 1).padStart(2, '0'),
  String(TODAY.getDate()).padStart(2, '0'),
].join('-');

const CHATS = [
  chat('a', 'Weekend error', { state: 'running' }),
  chat('b', 'Loader', { state: 'waiting' }),
  chat('c', 'Docstrings', { unread: true }),
];

const VIEW: ListView = {
  state: 'ready',
  failure: null,
  filter: 'all',
  query: '',
  groups: [{ key: 'p', kind: 'project', project: '', days: [{ day: DAY, chats: CHATS }] }],
  shown: 3,
  total: 3,
  counts: { running: 2, needsYou: 1, unread: 1 },
  hasMore: false,
  elsewhere: 0,
  deleted: [],
};

function viewOf(chats: Chat[]): ListView {
  return { ...VIEW, groups: [{ ...VIEW.groups[0]!, days: [{ day: DAY, chats }] }] };
}

const NO_SEARCH: SearchView = { query: '', state: 'idle', hits: [], more: false, failure: null };

const HITS: SearchHit[] = [
  {
    chat_id: 'a',
    seq: 7,
    title: 'Weekend error',
    snippet: 'the \ue000zebra\ue001 <b>crosses</b>',
    time: TODAY.toISOString(),
  },
  { chat_id: 'x', seq: 3, title: '', snippet: '\ue000Zebra\ue001s', time: TODAY.toISOString() },
];

function show(props: Partial<IChatListProps> = {}) {
  const actions = {
    open: vi.fn(),
    menu: vi.fn(),
    startRename: vi.fn(),
    rename: vi.fn(),
    remove: vi.fn(),
  };
  const rest = {
    onQuery: vi.fn(),
    onFilter: vi.fn(),
    onMore: vi.fn(),
    onRetry: vi.fn(),
    onOpenHit: vi.fn(),
    onMoreHits: vi.fn(),
    onRetrySearch: vi.fn(),
    onSearchFocused: vi.fn(),
    onTrash: vi.fn(),
  };
  const list = (more: Partial<IChatListProps>) => (
    <StrictMode>
      <ChatList
        view={VIEW}
        search={NO_SEARCH}
        searchWanted={false}
        rootName="bike-demand"
        providerName={() => 'Claude Code'}
        openId={null}
        renamingId={null}
        actions={actions}
        focusRequest={0}
        {...rest}
        {...more}
      />
    </StrictMode>
  );
  const { rerender } = render(list(props));
  const title = (name: string) => screen.getByRole('button', { name });
  return {
    ...actions,
    ...rest,
    title,
    change: (more: Partial<IChatListProps>) => rerender(list(more)),
  };
}

describe('rows', () => {
  it('are named by title and state, in the list of their project', () => {
    show();
    const chats = screen.getByRole('list', { name: 'Chats' });
    const project = within(chats).getByRole('list', { name: 'bike-demand' });
    const names = within(project)
      .getAllByRole('listitem')
      .map(row => row.getAttribute('aria-label'));
    expect(names).toEqual(['Weekend error, Running', 'Loader, Needs you', 'Docstrings, Unread']);
  });

  it.each([
    [{ kind: 'permission', tool: 'shell', subject: 'rm -r build' }, 'Wants to run rm -r build'],
    [{ kind: 'permission', tool: 'edit', subject: 'a.py' }, 'Wants to change a.py'],
    [{ kind: 'permission', tool: null, subject: 'May I?' }, 'Asks: May I?'],
    [{ kind: 'permission', tool: 'shell', subject: '' }, 'Asks for permission'],
    [{ kind: 'question', tool: null, subject: 'Which one?' }, 'Asks: Which one?'],
    [{ kind: 'plan', tool: null, subject: '' }, 'Has a plan for you to approve'],
  ] as const)('say what the agent wants: %j', (wants, words) => {
    const asking = chat('b', 'Loader', { state: 'waiting', wants });
    show({ view: viewOf([asking]) });
    const row = screen.getByRole('listitem', { name: `Loader, Needs you, ${words}` });
    expect(row.textContent).toContain(words);
  });

  it('say how many prompts wait, and whether for a person', () => {
    show({
      view: viewOf([
        chat('a', 'Loader', { state: 'running', queued: 3 }),
        chat('b', 'Polars', { queued: 1, queue_paused: true }),
      ]),
    });
    expect(screen.getByRole('listitem', { name: 'Loader, Running, 3 queued' })).toBeTruthy();
    const paused = screen.getByRole('listitem', { name: 'Polars, 1 queued, paused' });
    expect(paused.textContent).toContain('1 queued');
  });

  it('draw what a command hides', () => {
    const wants = { kind: 'permission', tool: 'shell', subject: 'ls\u202etxt' } as const;
    show({ view: viewOf([chat('b', 'Loader', { state: 'waiting', wants })]) });
    expect(document.querySelector('.ac-row-note .ac-control')).not.toBeNull();
  });

  it('are one stop for Tab, and arrows move between them', () => {
    const { title, open } = show();
    const stops = screen.getAllByRole('button').filter(button => button.tabIndex === 0);
    expect(stops.filter(button => button.className.includes('row'))).toHaveLength(1);
    act(() => title('Weekend error').focus());
    fireEvent.keyDown(title('Weekend error'), { key: 'ArrowDown' });
    expect(document.activeElement).toBe(title('Loader'));
    fireEvent.keyDown(title('Loader'), { key: 'End' });
    expect(document.activeElement).toBe(title('Docstrings'));
    fireEvent.click(title('Docstrings'));
    expect(open).toHaveBeenCalledWith(CHATS[2]);
  });

  it('can be renamed and deleted with keys, and have a menu', () => {
    const { title, startRename, remove, menu } = show();
    fireEvent.keyDown(title('Loader'), { key: 'F2' });
    fireEvent.keyDown(title('Loader'), { key: 'Delete' });
    fireEvent.contextMenu(title('Loader'), { clientX: 5, clientY: 7 });
    expect(startRename).toHaveBeenCalledWith(CHATS[1]);
    expect(remove).toHaveBeenCalledWith(CHATS[1]);
    expect(menu).toHaveBeenCalledWith(CHATS[1], { x: 5, y: 7 });
  });
});

describe('renaming in place', () => {
  it.each([
    ['keeps the new title with Enter', 'Polars', 'Enter', 'Polars'],
    ['forgets it with Escape', 'Polars', 'Escape', null],
    ['keeps the old one when nothing is left', '  ', 'Enter', null],
    ['keeps emoji whole', 'Sheep \u{1f411}\ud83d', 'Enter', 'Sheep \u{1f411}'],
  ])('%s', (_, typed, key, expected) => {
    const { rename } = show({ renamingId: 'b' });
    const field = screen.getByRole<HTMLInputElement>('textbox', { name: 'Title of the chat' });
    expect(field.value).toBe('Loader');
    fireEvent.change(field, { target: { value: typed } });
    fireEvent.keyDown(field, { key });
    fireEvent.blur(field);
    expect(rename.mock.calls).toEqual([[CHATS[1], expected]]);
  });

  it('leaves the focus on the title', () => {
    const { title, change } = show();
    act(() => title('Loader').focus());
    change({ renamingId: 'b' });
    expect(document.activeElement).toBe(screen.getByRole('textbox', { name: 'Title of the chat' }));
    change({ renamingId: null });
    expect(document.activeElement).toBe(title('Loader'));
  });
});

describe('finding', () => {
  it('has a search box and filters with their counts', () => {
    const { onQuery, onFilter } = show();
    fireEvent.change(screen.getByRole('searchbox', { name: 'Search chats' }), {
      target: { value: 'load' },
    });
    expect(onQuery).toHaveBeenCalledWith('load');
    fireEvent.click(screen.getByRole('button', { name: 'Needs you 1' }));
    expect(onFilter).toHaveBeenCalledWith('needs_you');
    fireEvent.click(screen.getByRole('button', { name: 'Archived chats' }));
    expect(onFilter).toHaveBeenCalledWith('archived');
  });

  it('says so when nothing matches', () => {
    show({ view: { ...VIEW, groups: [], shown: 0, query: 'zebra' } });
    expect(screen.getByText('No title matches “zebra”.')).toBeTruthy();
  });

  it('takes the focus when somebody asks to search', () => {
    const { onSearchFocused } = show({ searchWanted: true });
    expect(document.activeElement).toBe(screen.getByRole('searchbox', { name: 'Search chats' }));
    expect(onSearchFocused).toHaveBeenCalled();
  });

  it('folds a project away', () => {
    show();
    fireEvent.click(screen.getByRole('button', { name: 'bike-demand' }));
    expect(screen.queryByRole('button', { name: 'Loader' })).toBeNull();
    const folded = screen.getByRole('button', { name: 'bike-demand 3' });
    expect(folded.getAttribute('aria-expanded')).toBe('false');
  });
});

describe('what was said', () => {
  const found: SearchView = { ...NO_SEARCH, query: 'zebra', state: 'ready', hits: HITS };
  const hits = () => screen.getByRole('list', { name: 'In conversations' });

  it('stands below the rows with chat, time and the matches marked, as text', () => {
    show({ search: found });
    const [first, second] = within(hits()).getAllByRole('button');
    expect(first!.textContent).toBe('Weekend errornowthe zebra <b>crosses</b>');
    expect(second!.textContent).toBe('New chatnowZebras');
    const marks = [...hits().querySelectorAll('mark')].map(({ textContent }) => textContent);
    expect(marks).toEqual(['zebra', 'Zebra']);
    expect(screen.getByText('2 places')).toBeTruthy();
  });

  it('opens with a click at the place where it was said', () => {
    const { onOpenHit } = show({ search: found });
    fireEvent.click(within(hits()).getAllByRole('button')[0]!);
    expect(onOpenHit).toHaveBeenCalledWith(HITS[0]);
  });

  it('is reached with the arrows, from the search box through the rows and back', () => {
    const { title } = show({ search: found });
    const box = screen.getByRole('searchbox', { name: 'Search chats' });
    const press = (key: string) => fireEvent.keyDown(document.activeElement!, { key });
    act(() => box.focus());
    press('ArrowDown');
    expect(document.activeElement).toBe(title('Weekend error'));
    press('ArrowDown');
    press('ArrowDown');
    press('ArrowDown');
    expect(document.activeElement).toBe(within(hits()).getAllByRole('button')[0]);
    press('Home');
    press('ArrowUp');
    expect(document.activeElement).toBe(box);
  });

  it('is one stop for Tab together with the rows, also when no title matches', () => {
    show({ search: found, view: { ...VIEW, groups: [], shown: 0, query: 'zebra' } });
    const stops = within(hits()).getAllByRole('button');
    expect(stops.map(({ tabIndex }) => tabIndex)).toEqual([0, -1]);
  });

  it('says when nothing matches, when there is more, and when the search failed', () => {
    show({ search: { ...found, hits: [] } });
    expect(screen.getByText('Nothing that was said matches “zebra”.')).toBeTruthy();
    cleanup();
    const { onMoreHits } = show({ search: { ...found, more: true } });
    expect(screen.getByText('The latest 2 places. There are others.')).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: 'Show more' }));
    expect(onMoreHits).toHaveBeenCalled();
    cleanup();
    const failure = { code: 'network', message: '', details: {} } as const;
    const { onRetrySearch } = show({ search: { ...found, state: 'failed', hits: [], failure } });
    expect(screen.getByRole('alert').textContent).toContain('does not answer');
    fireEvent.click(screen.getByRole('button', { name: 'Try again' }));
    expect(onRetrySearch).toHaveBeenCalled();
  });
});
