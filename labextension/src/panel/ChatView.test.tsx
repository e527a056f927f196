// @vitest-environment jsdom
/** A chat as a whole: what its root says to tests and tools, Stop by Escape, and settings that were refused. */
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import { StrictMode } from 'react';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';

import { english, TransContext } from '../components/common/trans';
import type { Chat } from '../protocol/generated';
import { Folds } from '../state/folds';
import type {
  DraftView,
  Failure,
  IChatStore,
  RewindView,
  RunView,
  ThreadView,
} from '../state/stores';
import { Value } from '../state/value';
import { CLAUDE } from '../testing/chat_page';
import { ChatView } from './ChatView';
import { PanelContext, type IPanelContext } from './context';

beforeAll(() => {
  // jsdom lays nothing out
  Element.prototype.scrollIntoView = vi.fn();
});
afterEach(cleanup);

const CHAT = {
  id: 'c1',
  project: '',
  title: 'Weekend error',
  provider: 'claude',
  model: null,
  effort: null,
  mode: 'code',
  permission: 'ask',
  effective_permission: 'ask',
  state: 'idle',
} as Chat;

const IDLE: RunView = {
  known: true,
  running: false,
  remote: false,
  holder: null,
  maySteer: false,
  runId: null,
  runningKey: null,
  phase: 'idle',
  asks: [],
  queue: [],
  queuePaused: false,
  pauseReason: null,
  stopping: null,
  lastOutputAt: null,
};
const RUNNING: RunView = { ...IDLE, running: true, runId: 'r', phase: 'thinking' };

async function show(start: { run?: RunView; patched?: Failure | null; confirm?: boolean } = {}) {
  const run = new Value<RunView>(start.run ?? IDLE);
  const thread = new Value<ThreadView>({
    state: 'ready',
    failure: null,
    turns: [],
    hasOlder: false,
    loadingOlder: false,
    pending: [],
  });
  const draft = new Value<DraftView>({
    text: '',
    attachments: [],
    unsent: '',
    sending: false,
    refusal: null,
    trust: null,
  });
  const store = {
    id: 'c1',
    chat: new Value<Chat | null>(CHAT),
    thread,
    run,
    draft,
    folds: new Folds(),
    rewinds: new Value<RewindView>({ saved: null, last: null, undoing: false, failure: null }),
    jump: new Value(null),
    draftSync: {
      offer: new Value(null),
      saved: new Value({ revision: 0, text: '' }),
      follow: () => () => undefined,
      kept: () => ({ text: '', base: { revision: 0, text: '' } }),
      flush: vi.fn(),
    },
    open: vi.fn(() => () => undefined),
    setDraft: (text: string) => draft.set({ ...draft.getSnapshot(), text }),
    send: vi.fn(() => Promise.resolve()),
    cancel: vi.fn(() => Promise.resolve(null)),
    patch: vi.fn(() => Promise.resolve(start.patched ?? null)),
    markRead: vi.fn(),
  };
  const context = {
    session: {
      connection: new Value({ state: 'open', everOpen: true, user: null }),
      providers: new Value({ state: 'ready', failure: null, providers: [CLAUDE] }),
      chat: () => store as unknown as IChatStore,
    },
    status: new Value(null),
    preferences: new Value({ sendKey: 'enter', openChatsIn: 'side' }),
    navigation: { showList: vi.fn(), move: vi.fn() },
    host: {
      listFolder: () => Promise.resolve([{ name: 'train.py', type: 'file' }]),
      confirmFullAccess: vi.fn(() => Promise.resolve(start.confirm ?? true)),
      openTerminal: null,
    },
    markdown: null,
    highlight: null,
    trans: english,
  } as unknown as IPanelContext;
  const { container } = render(
    <StrictMode>
      <PanelContext.Provider value={context}>
        <TransContext.Provider value={english}>
          <ChatView id="c1" place="side" focusRequests={new Value(0)} />
        </TransContext.Provider>
      </PanelContext.Provider>
    </StrictMode>,
  );
  // the folder is listed meanwhile
  await act(() => Promise.resolve());
  const root = container.querySelector<HTMLElement>('.jp-AgentChat')!;
  const choose = async (picker: string, option: string) => {
    fireEvent.click(screen.getByRole('combobox', { name: picker }));
    fireEvent.click(screen.getByRole('option', { name: option }));
    await act(() => Promise.resolve());
  };
  return { store, run, thread, draft, root, choose, context };
}

describe('root of a chat', () => {
  it('says whether the agent runs from Send until the end, and nothing before the server has', async () => {
    const { root, run, thread, draft } = await show({ run: { ...IDLE, known: false } });
    const marks: (string | undefined)[] = [root.dataset.running];
    const mark = (change: () => void) => {
      act(change);
      marks.push(root.dataset.running);
    };
    mark(() => run.set(IDLE));
    mark(() => draft.set({ ...draft.getSnapshot(), sending: true }));
    mark(() => {
      draft.set({ ...draft.getSnapshot(), sending: false });
      thread.set({
        ...thread.getSnapshot(),
        pending: [{ clientId: 'x', text: 'hi', attachments: [], place: 'thread' }],
      });
    });
    mark(() => {
      thread.set({ ...thread.getSnapshot(), pending: [] });
      run.set(RUNNING);
    });
    mark(() => run.set(IDLE));
    await act(() => Promise.resolve());
    expect(marks).toEqual(['unknown', 'false', 'true', 'true', 'true', 'false']);
    expect(root.dataset.chatId).toBe('c1');
    expect(root.dataset.phase).toBe('idle');
  });

  it('reads the chat as the section "Chat: title"', async () => {
    await show();
    expect(screen.getByRole('region', { name: 'Chat: Weekend error' })).toBeTruthy();
  });
});

describe('Escape', () => {
  it('stops the run from the message field', async () => {
    const { store } = await show({ run: RUNNING });
    fireEvent.keyDown(screen.getByRole('textbox', { name: 'Message' }), { key: 'Escape' });
    expect(store.cancel).toHaveBeenCalledTimes(1);
  });

  it('does nothing while nothing runs, while a word is composed, or when it closed a list', async () => {
    const { store, run } = await show();
    const field = screen.getByRole('textbox', { name: 'Message' });
    fireEvent.keyDown(field, { key: 'Escape' });
    act(() => run.set(RUNNING));
    fireEvent.keyDown(field, { key: 'Escape', isComposing: true });
    const mode = screen.getByRole('combobox', { name: 'Mode' });
    fireEvent.click(mode);
    fireEvent.keyDown(mode, { key: 'Escape' });
    expect(store.cancel).not.toHaveBeenCalled();
  });
});

describe('settings of a chat', () => {
  it('shows what the server said when a change was refused', async () => {
    const patched: Failure = { code: 'busy', message: 'An agent is working.', details: {} };
    const { store, choose } = await show({ patched });
    await choose('Mode', 'Plan');
    expect(store.patch).toHaveBeenCalledWith({ mode: 'plan' });
    expect(screen.getByRole('alert').textContent).toContain('An agent is working.');
    expect(screen.getByRole('combobox', { name: 'Mode' }).textContent).toBe('Code');
  });

  it('asks before full access, and leaves everything as it is when the answer is no', async () => {
    const { store, choose, context } = await show({ confirm: false });
    await choose('Permission', 'Full access');
    expect(context.host.confirmFullAccess).toHaveBeenCalledWith('Claude Code');
    expect(store.patch).not.toHaveBeenCalled();
  });
});

describe('a chat without messages', () => {
  it('offers prompts about the folder and sends the first with one Enter', async () => {
    const { store } = await show();
    const list = screen.getByRole('list', { name: 'Suggestions' });
    expect(list.textContent).toContain('Explain train.py');
    fireEvent.keyDown(screen.getByRole('textbox', { name: 'Message' }), { key: 'Enter' });
    expect(store.send).toHaveBeenCalledWith('What is in this folder?', { delivery: 'auto' });
  });
});
