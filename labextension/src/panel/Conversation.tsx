/** The log of a chat, or what stands in its place before anything was said; below it what wants a person. */
import { useCallback, useRef } from 'react';

import { AskArea } from '../components/ask/AskArea';
import type { Answer } from '../components/ask/useAnswer';
import { ServicesContext, useServices } from '../components/common/services';
import { useTrans } from '../components/common/trans';
import { FailureLine } from '../components/start/FailureLine';
import { StartState } from '../components/start/StartState';
import { ThreadActionsContext } from '../components/thread/actions';
import { PlanCard } from '../components/thread/PlanCard';
import { RemoteLine } from '../components/thread/RemoteLine';
import { Thread, type IThreadHandle } from '../components/thread/Thread';
import { WorkingLine } from '../components/thread/WorkingLine';
import type { Chat } from '../protocol/generated';
import { checklist } from '../state/select';
import type { IChatStore } from '../state/stores';
import type { Value } from '../state/value';
import type { Turn } from '../state/view';
import { usePanel, type Place } from './context';
import { folderName } from './policies';
import { QueueArea } from './QueueArea';
import { useReadable } from './readable';
import { RewindArea } from './RewindArea';
import { useConversationActions } from './useConversationActions';
import { useMarkRead } from './useMarkRead';
import { useThreadServices } from './useThreadServices';

export interface IConversationProps {
  store: IChatStore;
  chat: Chat | null;
  empty: boolean;
  place: Place;
  focusRequests: Value<number>;
  /** The composer. */
  children: React.ReactNode;
}

export function Conversation(props: IConversationProps): React.JSX.Element {
  const { store, chat, empty, place, focusRequests, children } = props;
  const services = useThreadServices(store, chat);
  const thread = useRef<IThreadHandle>(null);
  const reveal = useCallback((id: string) => void thread.current?.reveal(id), []);
  const { actions, rewinding, endRewind, failure, dismiss } = useConversationActions(store, place);
  return (
    <ServicesContext.Provider value={services}>
      <ThreadActionsContext.Provider value={actions}>
        {empty ? <Start chat={chat} /> : <Log store={store} handle={thread} />}
      </ThreadActionsContext.Provider>
      <div className="ac-foot">
        <div className="ac-foot-in">
          {failure === null ? null : <FailureLine failure={failure} onDismiss={dismiss} />}
          <Activity store={store} chat={chat} focusRequests={focusRequests} onShow={reveal}>
            <RewindArea
              store={store}
              chat={chat}
              blocked={actions.rewindBlocked}
              rewinding={rewinding}
              endRewind={endRewind}
              focusRequests={focusRequests}
            />
          </Activity>
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
  const trans = useTrans();
  const view = useReadable(store.thread);
  const run = useReadable(store.run);
  const target = useReadable(store.jump);
  const jumped = useCallback(() => store.jump.done(), [store]);
  const loadOlder = useCallback(() => void store.loadOlder(), [store]);
  const reload = useCallback(() => void store.reload(), [store]);
  const retry = useCallback(
    ({ user, complete }: Turn) => {
      // not into the queue: that waits for the person because of this very turn
      const delivery = 'now';
      if (complete?.outcome === 'interrupted') {
        void store.send(trans.__('Continue from where you were interrupted.'), { delivery });
      } else if (user) {
        void store.send(user.text, { delivery, attachments: user.attachments });
      }
    },
    [store, trans],
  );
  useMarkRead(store, view, run.running);
  return (
    <Thread
      ref={handle}
      view={view}
      run={run}
      reading={store.reading}
      target={target}
      onJumped={jumped}
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
  /** Stands between the working line and the asks. */
  children: React.ReactNode;
}

/** Working line, asks and plan: one set of buttons, where they cannot scroll away. */
function Activity(props: IActivityProps): React.JSX.Element {
  const { store, chat, focusRequests, onShow, children } = props;
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
      <RemoteLine run={run} />
      {children}
      <AskArea
        asks={run.asks}
        agentName={names.agent(chat?.provider ?? null)}
        locked={offline || run.remote}
        onAnswer={answer}
        onShow={onShow}
        takeFocus={text.trim() === '' && isFocused(store.id)}
      />
      <div className="ac-stack">
        <PlanCard entries={checklist(turns)} running={run.running} />
        <QueueArea store={store} focusRequests={focusRequests} />
      </div>
    </>
  );
}
