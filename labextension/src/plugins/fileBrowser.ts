/** "New agent chat here" in the file browser's context menu. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IFileBrowserFactory } from '@jupyterlab/filebrowser';

import { chatIcon } from '../components/icons/labIcons';
import { COMMANDS } from '../panel/rowMenu';
import { IAgentChatPanel } from './tokens';

const NEW_HERE = 'agentchat:new-chat-here';

function activate(
  app: JupyterFrontEnd,
  { context }: IAgentChatPanel,
  browsers: IFileBrowserFactory | null,
): void {
  if (!browsers) {
    return;
  }
  const { commands, serviceManager, contextMenu } = app;

  /** The folder under the pointer, else the one that is listed; relative to the server root. */
  const folder = (): string | null => {
    const browser = browsers.tracker.currentWidget;
    if (!browser) {
      return null;
    }
    const onFolder = app.contextMenuHitTest(node => node.dataset.isdir === 'true');
    const chosen = onFolder && [...browser.selectedItems()].find(item => item.type === 'directory');
    return serviceManager.contents.localPath(chosen ? chosen.path : browser.model.path);
  };
  commands.addCommand(NEW_HERE, {
    label: context.trans.__('New agent chat here'),
    icon: chatIcon,
    execute: () => {
      const project = folder();
      return project === null ? null : commands.execute(COMMANDS.newChat, { project });
    },
  });
  contextMenu.addItem({ command: NEW_HERE, selector: '.jp-DirListing-content', rank: 55 });
}

export const fileBrowser: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-agentchat:file-browser',
  description: 'Starts a chat in a folder of the file browser.',
  autoStart: true,
  requires: [IAgentChatPanel],
  optional: [IFileBrowserFactory],
  activate,
};
