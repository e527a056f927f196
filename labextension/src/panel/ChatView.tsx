/** One chat: header, conversation, and the foot where everything that wants a person stands. */
import { useEffect, useState } from 'react';

import { useTrans } from '../components/common/trans';
import { chatTitle } from '../components/list/words';
import type { RunView, ThreadView } from '../state/stores';
import { ChatComposer } from './ChatComposer';
import { ChatHeader } from './ChatHeader';
import { usePanel, type Place } from './context';
import { Conversation } from './Conversation';
import { browserStorage, mirrorDraft, watchPage } from './draftMirror';
import { useReadable, useSelected } from './readable';
import { mirrorSavedDraft } from './savedDraft';
import type { Value } from '../state/value';
import { ServerLines } from './ServerLines';

export interface IChatViewProps {
  id: string;
  place: Place;
  focusRequests: Value<number>;
}

/** "true" from the moment of Send until the run has ended, "unknown" until the server has said. */
function runningMark(run: RunView, sending: boolean): string {
  return sending ? 'true' : run.known ? String(run.running) : 'unknown';
}

/** Nothing was said yet, as far as the log goes. */
function isEmpty({ state, turns, pending, hasOlder }: ThreadView): boolean {
  return state === 'ready' && turns.length === 0 && !hasOlder && pending.length === 0;
}

function isPending({ pending }: ThreadView): boolean {
  return pending.some(({ place }) => place === 'thread');
}

export function ChatView({ id, place, focusRequests }: IChatViewProps): React.JSX.Element {
  const { session } = usePanel();
  const trans = useTrans();
  const [store] = useState(() => session.chat(id));
  const chat = useReadable(store.chat);
  const run = useReadable(store.run);
  // not the thread as a whole: it changes with every word that streams in
  const empty = useSelected(store.thread, isEmpty) && !run.running;
  const pending = useSelected(store.thread, isPending);
  const sending = useSelected(store.draft, draft => draft.sending);
  useEffect(() => store.open(), [store]);
  useEffect(() => mirrorDraft(store, browserStorage()), [store]);
  useEffect(() => watchPage(store), [store]);
  useEffect(() => mirrorSavedDraft(store, browserStorage()), [store]);

  const onKeyDown = (event: React.KeyboardEvent) => {
    const used = event.defaultPrevented || event.nativeEvent.isComposing;
    if (event.key === 'Escape' && !used && run.running && run.stopping === null) {
      event.preventDefault();
      event.stopPropagation();
      void store.cancel();
    }
  };
  return (
    // Escape stops the run from anywhere in the chat; the Stop button says so
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <section
      className="ac-root jp-AgentChat"
      aria-label={trans.__('Chat: %1', chatTitle(chat?.title ?? '', trans))}
      data-chat-id={id}
      data-running={runningMark(run, sending || pending)}
      data-phase={run.phase}
      onKeyDown={onKeyDown}
      onBlur={() => store.draftSync.flush()}
    >
      <ChatHeader id={id} chat={chat} place={place} />
      <ServerLines />
      <Conversation
        store={store}
        chat={chat}
        empty={empty}
        place={place}
        focusRequests={focusRequests}
      >
        <ChatComposer store={store} chat={chat} empty={empty} focusRequests={focusRequests} />
      </Conversation>
    </section>
  );
}
