/** Above the composer: the dialog of a rewind, the way back from it, and what a person should know afterwards. */
import { useCallback, useMemo, useSyncExternalStore } from 'react';

import { useServices } from '../components/common/services';
import { useTrans } from '../components/common/trans';
import { RewindDialog } from '../components/rewind/RewindDialog';
import { MemoryHint, RewoundBar, SavedDraftBar } from '../components/rewind/RewoundBar';
import { summaryText } from '../components/rewind/summaryText';
import type { Chat } from '../protocol/generated';
import { cutCounts, isBeginning, memoryGap, openRewind, workSummary } from '../state/aftermath';
import type { IChatStore } from '../state/stores';
import type { Value } from '../state/value';
import type { Turn } from '../state/view';
import { useReadable } from './readable';
import type { IConversationActions } from './useConversationActions';

export interface IRewindAreaProps extends Pick<IConversationActions, 'rewinding' | 'endRewind'> {
  store: IChatStore;
  chat: Chat | null;
  /** Why nothing can be rewound now. */
  blocked: string | null;
  focusRequests: Value<number>;
}

export function RewindArea(props: IRewindAreaProps): React.JSX.Element {
  const { store, chat, blocked, rewinding, endRewind, focusRequests } = props;
  const { names } = useServices();
  const { turns, hasOlder, pending } = useReadable(store.thread);
  const { running } = useReadable(store.run);
  const view = useReadable(store.rewinds);
  const agentName = names.agent(chat?.provider ?? null);
  // the next prompt is the end of the way back
  const undoable = running || pending.length > 0 ? null : openRewind(turns);
  const focus = () => focusRequests.set(focusRequests.getSnapshot() + 1);
  const preview = useCallback((seq: number) => store.rewinds.preview(seq), [store]);
  return (
    <>
      {rewinding === null ? null : (
        <RewindDialog
          message={rewinding}
          cut={cutCounts(turns, rewinding.seq)}
          empty={isBeginning(turns, hasOlder, rewinding.seq)}
          agentName={agentName}
          blocked={blocked}
          onPreview={preview}
          onRewind={(seq, files, overwrite) => store.rewinds.rewind(seq, files, overwrite)}
          onClose={rewound => {
            endRewind();
            if (rewound) {
              focus();
            }
          }}
        />
      )}
      {undoable === null ? null : (
        <RewoundBar
          part={undoable}
          empty={!hasOlder && turns.every(turn => turn.runId === null)}
          view={view}
          agentName={agentName}
          onUndo={() => void store.rewinds.undo().then(focus)}
        />
      )}
      {view.saved === null ? null : (
        <SavedDraftBar
          saved={view.saved}
          onInsert={() => {
            store.rewinds.insertSaved();
            focus();
          }}
          onDismiss={() => store.rewinds.dismissSaved()}
        />
      )}
      {running ? null : <Hint store={store} turns={turns} onDone={focus} />}
    </>
  );
}

interface IHintProps {
  store: IChatStore;
  turns: readonly Turn[];
  onDone: () => void;
}

/** Once per rewind or recovery. */
function Hint({ store, turns, onDone }: IHintProps): React.JSX.Element | null {
  const trans = useTrans();
  const gap = memoryGap(turns);
  const key = `hint:${gap ?? ''}`;
  const shown = useSyncExternalStore(store.folds.subscribe, () => store.folds.isOpen(key, true));
  const summary = useMemo(
    () => (gap === null ? null : summaryText(workSummary(turns), trans)),
    [gap, turns, trans],
  );
  if (gap === null || !shown) {
    return null;
  }
  const close = () => {
    store.folds.set(key, false);
    onDone();
  };
  return (
    <MemoryHint
      onInsert={
        summary === null
          ? null
          : () => {
              const { text } = store.draft.getSnapshot();
              store.setDraft(text === '' ? summary : `${text}\n\n${summary}`);
              close();
            }
      }
      onDismiss={close}
    />
  );
}
