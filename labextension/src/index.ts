/** The plugins that JupyterLab loads, in no particular order. */
import type { JupyterFrontEndPlugin } from '@jupyterlab/application';

import { placeholder } from './plugins/placeholder';

const plugins: JupyterFrontEndPlugin<unknown>[] = [placeholder];

export default plugins;
