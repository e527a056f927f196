/** The log of a chat, or what stands in its place before anything was said; below it what wants a person. */
import { useCallback, useRef } from 'react';

import { AskArea } from '../components/ask/AskArea';
import type { Answer } from '../components/ask/useAnswer';
import { ServicesContext, useServices } from '../components/common/services';
import { StartState } from '../components/start/StartState';
import { PlanCard } from '../components/thread/PlanCard';
import { Thread, type IThreadHandle } from '../components/thread/Thread';
import { WorkingLine } from '../components/thread/WorkingLine';
import type { Chat } from '../protocol/generated';
import { checklist } from '../state/select';
import type { IChatStore } from '../state/stores';
import type { Value } from '../state/value';
import type { Turn } from '../state/view';
import { usePanel } from './context';
import { folderName } from './policies';
import { useReadable } from './readable';
import { useMarkRead } from './useMarkRead';
import { useThreadServices } from './useThreadServices';

export interface IConversationProps {
  store: IChatStore;
  chat: Chat | null;
  empty: boolean;
  focusRequests: Value<number>;
  /** The composer. */
  children: React.ReactNode;
}

export function Conversation(props: IConversationProps): React.JSX.Element {
  const { store, chat, empty, focusRequests, children } = props;
  const services = useThreadServices(store, chat);
  const thread = useRef<IThreadHandle>(null);
  const reveal = useCallback((id: string) => void thread.current?.reveal(id), []);
  return (
    <ServicesContext.Provider value={services}>
      {empty ? <Start chat={chat} /> : <Log store={store} handle={thread} />}
      <div className="ac-foot">
        <div className="ac-foot-in">
          <Activity store={store} chat={chat} focusRequests={focusRequests} onShow={reveal} />
          {children}
        </div>
      </div>
    </ServicesContext.Provider>
  );
}

function Start({ chat }: Pick<IConversationProps, 'chat'>): React.JSX.Element {
  const { session, status, host } = usePanel();
  const providers = useReadable(session.providers);
  const server = useReadable(status);
  const project = chat?.project ?? null;
  return (
    <StartState
      first={false}
      folder={folderName(project, server)}
      providers={providers}
      providerId={chat?.provider ?? null}
      onTour={null}
      onRecheck={() => void session.providers.refresh()}
      onCopy={host.copyText}
      onTerminal={host.openTerminal && (() => host.openTerminal?.(project))}
    />
  );
}

interface ILogProps {
  store: IChatStore;
  handle: React.RefObject<IThreadHandle>;
}

function Log({ store, handle }: ILogProps): React.JSX.Element {
  const view = useReadable(store.thread);
  const run = useReadable(store.run);
  const loadOlder = useCallback(() => void store.loadOlder(), [store]);
  const reload = useCallback(() => void store.reload(), [store]);
  const retry = useCallback((turn: Turn) => void store.send(turn.user?.text ?? ''), [store]);
  useMarkRead(store, view, run.running);
  return (
    <Thread
      ref={handle}
      view={view}
      run={run}
      reading={store.reading}
      onLoadOlder={loadOlder}
      onReload={reload}
      onRetry={retry}
    />
  );
}

/** The person is in this chat, not in a notebook or another tab. */
function isFocused(chatId: string): boolean {
  const view = document.activeElement?.closest<HTMLElement>('.jp-AgentChat');
  return view?.dataset.chatId === chatId;
}

interface IActivityProps extends Pick<IConversationProps, 'store' | 'chat' | 'focusRequests'> {
  onShow: (id: string) => void;
}

/** Working line, asks and plan: one set of buttons, where they cannot scroll away. */
function Activity({ store, chat, focusRequests, onShow }: IActivityProps): React.JSX.Element {
  const { session } = usePanel();
  const run = useReadable(store.run);
  const { turns } = useReadable(store.thread);
  const { text } = useReadable(store.draft);
  const { names } = useServices();
  const offline = useReadable(session.connection).state !== 'open';
  const turn = turns.find(known => known.key === run.runningKey) ?? null;
  const answer = async (askId: string, given: Answer) => {
    const fromCard = document.activeElement?.closest('.ac-asks') != null;
    const outcome = await store.answer(askId, given);
    if (outcome.ok && fromCard) {
      // the card goes, and with it the focus
      focusRequests.set(focusRequests.getSnapshot() + 1);
    }
    return outcome;
  };
  return (
    <>
      <WorkingLine run={run} turn={turn} offline={offline} onStop={() => void store.cancel()} />
      <AskArea
        asks={run.asks}
        agentName={names.agent(chat?.provider ?? null)}
        onAnswer={answer}
        onShow={onShow}
        takeFocus={text.trim() === '' && isFocused(store.id)}
      />
      <PlanCard entries={checklist(turns)} running={run.running} />
    </>
  );
}
