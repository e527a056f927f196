/** The plugins that JupyterLab loads, in no particular order. */
import type { JupyterFrontEndPlugin } from '@jupyterlab/application';

import { chatCommands } from './plugins/chatCommands';
import { commands } from './plugins/commands';
import { fileBrowser } from './plugins/fileBrowser';
import { launcher } from './plugins/launcher';
import { links } from './plugins/links';
import { panel } from './plugins/panel';
import { preferences } from './plugins/preferences';
import { session } from './plugins/session';
import { statusBar } from './plugins/statusBar';

export { IAgentChatPanel, IAgentChatPreferences, IAgentChatSession } from './plugins/tokens';

const plugins = [
  session,
  preferences,
  panel,
  commands,
  chatCommands,
  launcher,
  fileBrowser,
  links,
  statusBar,
];

export default plugins as JupyterFrontEndPlugin<unknown>[];
