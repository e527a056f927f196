/** Recently deleted chats instead of the list. */
import { useEffect } from 'react';

import { TrashView } from '../components/list/TrashView';
import { useTrans } from '../components/common/trans';
import { usePanel } from './context';
import { useReadable } from './readable';
import type { ISideProps } from './sideModel';

export function TrashSide({ model, focusRequests }: ISideProps): React.JSX.Element {
  const { session } = usePanel();
  const trans = useTrans();
  const view = useReadable(session.trash);
  const { providers } = useReadable(session.providers);
  useEffect(() => void session.trash.load(), [session]);
  return (
    <TrashView
      view={view}
      providerName={id =>
        providers.find(known => known.id === id)?.name ?? id ?? trans.__('No agent')
      }
      onBack={() => {
        model.trashOpen.set(false);
        focusRequests.set(focusRequests.getSnapshot() + 1);
      }}
      onRestore={id => session.trash.restore(id)}
      onRetry={() => void session.trash.load()}
      onDismiss={() => session.trash.dismissFailure()}
    />
  );
}
