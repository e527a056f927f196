/** The side panel: the list, what was deleted, or one chat; below them what was deleted a moment ago. */
import { useContext } from 'react';

import { DeletedLines } from '../components/list/DeletedLines';
import { Value } from '../state/value';
import { ChatView } from './ChatView';
import { ShownContext, usePanel } from './context';
import { ListSide } from './ListSide';
import { useReadable } from './readable';
import type { ISideProps } from './sideModel';
import { TrashSide } from './TrashSide';

const ALWAYS = new Value(true);

export function SidePanelView({ model, focusRequests }: ISideProps): React.JSX.Element {
  const openId = useReadable(model.openId);
  const trashOpen = useReadable(model.trashOpen);
  return (
    <div className="ac-root ac-panel">
      {openId !== null ? (
        <ChatView key={openId} id={openId} place="side" focusRequests={focusRequests} />
      ) : trashOpen ? (
        <TrashSide model={model} focusRequests={focusRequests} />
      ) : (
        <ListSide model={model} focusRequests={focusRequests} />
      )}
      <Deleted focusRequests={focusRequests} />
    </div>
  );
}

function Deleted({ focusRequests }: Pick<ISideProps, 'focusRequests'>): React.JSX.Element {
  const { session } = usePanel();
  const { deleted } = useReadable(session.list);
  const shown = useReadable(useContext(ShownContext) ?? ALWAYS);
  const undo = (id: string) => {
    void session.list.restore(id).then(() => {
      // the button went away, and the focus with it
      if (document.activeElement === document.body) {
        focusRequests.set(focusRequests.getSnapshot() + 1);
      }
    });
  };
  return (
    <DeletedLines
      deleted={deleted}
      shown={shown}
      onUndo={undo}
      onDismiss={id => session.list.forgetDeleted(id)}
    />
  );
}
