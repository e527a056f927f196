/** What agents are doing, in JupyterLab's status bar: seen wherever one is, gone when all is quiet. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IStateDB } from '@jupyterlab/statedb';
import { IStatusBar } from '@jupyterlab/statusbar';

import { StatusItem } from '../panel/StatusItem';
import { chatToOpen } from '../state/status';
import type { ISession } from '../state/stores';
import { IAgentChatPanel } from './tokens';

const STATE_KEY = 'jupyter-agentchat:busy';

function activate(
  _app: JupyterFrontEnd,
  { context, places }: IAgentChatPanel,
  bar: IStatusBar | null,
  state: IStateDB | null,
): void {
  const { session, navigation, trans } = context;
  if (!bar) {
    return;
  }
  const item = new StatusItem(session.list, trans, () => {
    const chat = chatToOpen(session.list.all(), places.currentId());
    if (chat) {
      navigation.open(chat.id);
    } else {
      places.showPanel();
    }
  });
  bar.registerStatusItem('jupyter-agentchat:status', {
    item,
    align: 'right',
    rank: 0,
    isActive: () => item.active,
    activeStateChanged: item.activeChanged,
  });
  if (state) {
    void startWhereBusy(state, session, item);
  }
}

/**
 * A page opens no connection before somebody looks at a chat. But whoever left agents at work wants to hear of them
 * after a reload, too: what was going on last is kept.
 */
async function startWhereBusy(state: IStateDB, session: ISession, item: StatusItem): Promise<void> {
  const before: unknown = await state.fetch(STATE_KEY).catch(() => null);
  item.activeChanged.connect(() => {
    state.save(STATE_KEY, item.active).catch(() => undefined);
  });
  if (before === true) {
    session.start();
  } else if (item.active) {
    state.save(STATE_KEY, true).catch(() => undefined);
  }
  let known = false;
  session.list.subscribe(() => {
    if (!known && session.list.getSnapshot().state === 'ready') {
      known = true;
      if (before === true && !item.active) {
        state.save(STATE_KEY, false).catch(() => undefined);
      }
    }
  });
}

export const statusBar: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-agentchat:status-bar',
  description: 'Shows in the status bar how many agents work and how many need you.',
  autoStart: true,
  requires: [IAgentChatPanel],
  optional: [IStatusBar, IStateDB],
  activate,
};
