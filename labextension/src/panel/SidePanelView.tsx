/** The side panel: the list, or one chat. */
import { ChatView } from './ChatView';
import { ListSide } from './ListSide';
import { useReadable } from './readable';
import type { ISideProps } from './sideModel';

export function SidePanelView({ model, focusRequests }: ISideProps): React.JSX.Element {
  const openId = useReadable(model.openId);
  return (
    <div className="ac-root ac-panel">
      {openId === null ? (
        <ListSide model={model} focusRequests={focusRequests} />
      ) : (
        <ChatView key={openId} id={openId} place="side" focusRequests={focusRequests} />
      )}
    </div>
  );
}
