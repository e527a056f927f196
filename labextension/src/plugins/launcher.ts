/** Cards in the launcher. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ILauncher } from '@jupyterlab/launcher';

import { COMMANDS } from '../panel/rowMenu';
import { IAgentChatPanel } from './tokens';

export const launcher: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-agentchat:launcher',
  description: 'Launcher cards for a new chat and for the tour.',
  autoStart: true,
  requires: [IAgentChatPanel],
  optional: [ILauncher],
  activate: (_: JupyterFrontEnd, { context }: IAgentChatPanel, cards: ILauncher | null) => {
    const category = context.trans.__('Agent chat');
    cards?.add({ command: COMMANDS.newChat, args: { launcher: true }, category, rank: 1 });
    cards?.add({ command: COMMANDS.takeTour, category, rank: 2 });
  },
};
