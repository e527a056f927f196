/** The same drawings as `LabIcon`s, for what JupyterLab itself draws: tabs, launcher, menus, side bars. */
import { LabIcon } from '@jupyterlab/ui-components';

import { ICON_PATHS, type IconName } from './paths';

/** An SVG document that follows JupyterLab's theme by its class `jp-icon3`. */
export function iconSvg(name: IconName): string {
  return (
    // `fill` stands on the root: JupyterLab paints every `.jp-icon3[fill]`
    '<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 16 16" fill="none">' +
    '<path class="jp-icon3" stroke="#616161" stroke-width="1.35" ' +
    `stroke-linecap="round" stroke-linejoin="round" d="${ICON_PATHS[name]}"/></svg>`
  );
}

function labIcon(name: IconName): LabIcon {
  return new LabIcon({ name: `agentchat:${name}`, svgstr: iconSvg(name) });
}

/** A chat, and the panel of chats. */
export const chatIcon = labIcon('chat');
/** The guided tour. */
export const tourIcon = labIcon('tour');
/** A folder in which a chat starts. */
export const newChatHereIcon = labIcon('plus');
/** Stop the run. */
export const stopIcon = labIcon('stop');
/** Attach a file to a chat. */
export const attachIcon = labIcon('paperclip');
/** A shell, for "Open terminal". */
export const terminalIcon = labIcon('terminal');
/** Rename. */
export const renameIcon = labIcon('edit');
/** Fork a chat. */
export const forkIcon = labIcon('fork');
/** Delete a chat. */
export const deleteIcon = labIcon('trash');
/** Archive a chat. */
export const archiveIcon = labIcon('archive');
/** Pin a chat to the top of the list. */
export const pinIcon = labIcon('pin');
/** Show beside, or in the main area. */
export const openMainIcon = labIcon('openExternal');
/** Search. */
export const searchChatsIcon = labIcon('search');
/** Download a chat. */
export const exportIcon = labIcon('download');
/** Copy an address. */
export const linkIcon = labIcon('copy');
/** Mark a chat as read. */
export const readIcon = labIcon('check');
/** Mark a chat as unread. */
export const unreadIcon = labIcon('mail');
