/** The line above a chat: back, title, and where it is shown. */
import { IconButton } from '../components/common/Button';
import { useTrans } from '../components/common/trans';
import { chatTitle } from '../components/list/words';
import type { Chat } from '../protocol/generated';
import { usePanel, type Place } from './context';

export interface IChatHeaderProps {
  id: string;
  chat: Chat | null;
  place: Place;
}

export function ChatHeader({ id, chat, place }: IChatHeaderProps): React.JSX.Element {
  const { navigation, host } = usePanel();
  const trans = useTrans();
  const openMenu = (event: React.MouseEvent) => {
    const button = event.currentTarget.getBoundingClientRect();
    if (chat) {
      host.showMenu(chat, { x: button.left, y: button.bottom }, place);
    }
  };
  return (
    <div className="ac-head">
      {place === 'side' && (
        <IconButton
          icon="chevronLeft"
          label={trans.__('Back to chats')}
          onClick={navigation.showList}
        />
      )}
      <h2 className="ac-ellipsis ac-grow">{chatTitle(chat?.title ?? '', trans)}</h2>
      {place === 'side' ? (
        <IconButton
          icon="openExternal"
          label={trans.__('Open in main area')}
          onClick={() => navigation.move(id, 'main')}
        />
      ) : (
        <IconButton
          icon="sidePanel"
          label={trans.__('Open in side panel')}
          onClick={() => navigation.move(id, 'side')}
        />
      )}
      <IconButton
        icon="more"
        label={trans.__('Chat menu')}
        aria-haspopup="menu"
        disabled={chat === null}
        onClick={openMenu}
      />
    </div>
  );
}
