/** The menu of a chat, in the list and in its header. Its entries are commands, so plugins can change them. */
import { MenuSvg } from '@jupyterlab/ui-components';
import type { CommandRegistry } from '@lumino/commands';

import type { Chat } from '../protocol/generated';
import type { IHost } from './context';

export const COMMANDS = {
  openPanel: 'agentchat:open-panel',
  newChat: 'agentchat:new-chat',
  openChat: 'agentchat:open-chat',
  send: 'agentchat:send',
  stop: 'agentchat:stop',
  focusComposer: 'agentchat:focus-composer',
  fork: 'agentchat:fork',
  rename: 'agentchat:rename',
  markUnread: 'agentchat:mark-unread',
  markRead: 'agentchat:mark-read',
  pin: 'agentchat:pin',
  archive: 'agentchat:archive',
  remove: 'agentchat:delete',
  export: 'agentchat:export',
  copyLink: 'agentchat:copy-link',
  search: 'agentchat:search',
  showDeleted: 'agentchat:show-deleted',
  takeTour: 'agentchat:take-tour',
} as const;

export function menuShower(commands: CommandRegistry): IHost['showMenu'] {
  return (chat: Chat, at, place) => {
    const menu = new MenuSvg({ commands });
    const { id } = chat;
    if (place === 'list') {
      menu.addItem({ command: COMMANDS.openChat, args: { id, main: false, menu: true } });
      menu.addItem({ command: COMMANDS.openChat, args: { id, main: true, menu: true } });
    }
    menu.addItem({ command: COMMANDS.rename, args: { id, inline: place === 'list' } });
    menu.addItem({ command: COMMANDS.fork, args: { id } });
    menu.addItem({ type: 'separator' });
    menu.addItem({ command: chat.unread ? COMMANDS.markRead : COMMANDS.markUnread, args: { id } });
    menu.addItem({ command: COMMANDS.pin, args: { id, pinned: !chat.pinned } });
    menu.addItem({ command: COMMANDS.archive, args: { id, archived: !chat.archived } });
    menu.addItem({ type: 'separator' });
    menu.addItem({ command: COMMANDS.export, args: { id, format: 'jsonl' } });
    menu.addItem({ command: COMMANDS.export, args: { id, format: 'md' } });
    menu.addItem({ command: COMMANDS.copyLink, args: { id } });
    menu.addItem({ type: 'separator' });
    menu.addItem({ command: COMMANDS.remove, args: { id } });
    const before = document.activeElement;
    // the command of the chosen entry runs after the menu has closed
    menu.aboutToClose.connect(() =>
      requestAnimationFrame(() => {
        menu.dispose();
        giveBack(before);
      }),
    );
    menu.open(at.x, at.y);
  };
}

/** A menu that closes leaves the focus nowhere, unless the chosen command took it. */
function giveBack(before: Element | null): void {
  if (document.activeElement === document.body && before instanceof HTMLElement) {
    before.focus({ preventScroll: true });
  }
}
