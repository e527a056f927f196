/** The side panel: the list, the first minute while there is nothing to list, or one chat. */
import { ChatView } from './ChatView';
import { ListSide } from './ListSide';
import type { NewDraft } from './newDraft';
import { useReadable, type Value } from './readable';

/** What the side panel shows; kept outside of React, since panels are unmounted. */
export interface ISideModel {
  /** The chat that is open, null for the list. */
  readonly openId: Value<string | null>;
  readonly renamingId: Value<string | null>;
  readonly draft: NewDraft;
}

export interface ISidePanelViewProps {
  model: ISideModel;
  focusRequests: Value<number>;
}

export function SidePanelView({ model, focusRequests }: ISidePanelViewProps): React.JSX.Element {
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
