/** Makes the session; nothing is opened before a view is seen. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';

import { jupyterClient } from '../client/jupyter';
import { createStatus } from '../panel/statusStore';
import { Session } from '../state/session';
import { IAgentChatSession } from './tokens';

export const session: JupyterFrontEndPlugin<IAgentChatSession> = {
  id: 'jupyter-agentchat:session',
  description: 'The connection to the chats of this server.',
  autoStart: true,
  provides: IAgentChatSession,
  activate: (app: JupyterFrontEnd): IAgentChatSession => {
    const client = jupyterClient(app.serviceManager.serverSettings, 'panel');
    const made = new Session(client);
    return { session: made, status: createStatus(() => client.api.status(), made) };
  },
};
