/** A plugin that only says that the front end was loaded; the panel replaces it. */
import type { JupyterFrontEndPlugin } from '@jupyterlab/application';

export const placeholder: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-agentchat:plugin',
  description: 'Loads the front end of jupyter_agentchat.',
  autoStart: true,
  activate: () => undefined,
};
