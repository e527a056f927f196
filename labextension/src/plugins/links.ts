/** Opens the chat that the page's address names. */
import { IRouter } from '@jupyterlab/application';
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';

import { LINK_ARGUMENT, readChatLink, withoutChatLink } from '../panel/links';
import { text } from './args';
import { IAgentChatPanel } from './tokens';

const FOLLOW = 'agentchat:follow-link';

function activate(
  app: JupyterFrontEnd,
  { context }: IAgentChatPanel,
  router: IRouter | null,
): void {
  if (!router) {
    return;
  }
  app.commands.addCommand(FOLLOW, {
    label: context.trans.__('Open the chat of this address'),
    isVisible: () => false,
    execute: async args => {
      const query = text(args, 'search') ?? '';
      const link = readChatLink(query);
      if (link) {
        // the layout of the last time comes first
        await app.restored;
        const { id, seq } = link;
        context.navigation.open(id, undefined, seq === undefined ? undefined : { seq });
        const { path, hash } = router.current;
        router.navigate(path + withoutChatLink(query) + hash, { skipRouting: true });
      }
    },
  });
  router.register({ command: FOLLOW, pattern: new RegExp(`[?&]${LINK_ARGUMENT}=`, 'u'), rank: 40 });
}

export const links: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-agentchat:links',
  description: 'Opens the chat that the address of the page names.',
  autoStart: true,
  requires: [IAgentChatPanel],
  optional: [IRouter],
  activate,
};
