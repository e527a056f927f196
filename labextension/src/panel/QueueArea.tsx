/** The queue of a chat, from `sync` alone; prompts on their way into it stand at its end. */
import { QueueList } from '../components/queue/QueueList';
import type { IChatStore } from '../state/stores';
import type { Value } from '../state/value';
import { usePanel } from './context';
import { useReadable, useSelected } from './readable';

export interface IQueueAreaProps {
  store: IChatStore;
  focusRequests: Value<number>;
}

export function QueueArea({ store, focusRequests }: IQueueAreaProps): React.JSX.Element {
  const { session } = usePanel();
  const run = useReadable(store.run);
  const pending = useSelected(store.thread, view => view.pending);
  const online = useReadable(session.connection).state === 'open';
  const focus = () => focusRequests.set(focusRequests.getSnapshot() + 1);
  return (
    <QueueList
      items={run.queue}
      pending={pending.filter(({ place }) => place === 'queue')}
      paused={run.queuePaused}
      pauseReason={run.pauseReason}
      readOnly={run.remote || !online}
      actions={store.queue}
      onRescue={text => {
        const { text: typed } = store.draft.getSnapshot();
        store.setDraft(typed === '' ? text : `${typed}\n\n${text}`);
        focus();
      }}
      onEmptied={focus}
    />
  );
}
