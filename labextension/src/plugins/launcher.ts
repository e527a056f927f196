/** Cards in the launcher. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ILauncher } from '@jupyterlab/launcher';

import { COMMANDS } from '../panel/rowMenu';
import { IAgentChatPanel } from './tokens';

/** After the notebooks (0), before the consoles (20). */
const CATEGORY_RANK = 10;

export const launcher: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-agentchat:launcher',
  description: 'Launcher cards for a new chat and for the tour.',
  autoStart: true,
  requires: [IAgentChatPanel],
  optional: [ILauncher],
  activate: (_: JupyterFrontEnd, { context }: IAgentChatPanel, cards: ILauncher | null) => {
    const category = context.trans.__('Agent chat');
    const place = { category, categoryRank: CATEGORY_RANK };
    cards?.add({ command: COMMANDS.newChat, args: { launcher: true }, rank: 1, ...place });
    cards?.add({ command: COMMANDS.takeTour, rank: 2, ...place });
  },
};
