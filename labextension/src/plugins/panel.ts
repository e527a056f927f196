/** The side panel and the tabs of the main area, restored after a reload. */
import { ILayoutRestorer } from '@jupyterlab/application';
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { IStateDB } from '@jupyterlab/statedb';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { TRANSLATION_DOMAIN } from '../components/common/trans';
import { createHighlight } from '../components/markdown/highlight';
import { mountHighlightStyle } from '../components/markdown/highlightStyle';
import { MarkdownRenderer } from '../components/markdown/renderer';
import type { IPanelContext } from '../panel/context';
import { createDialogs } from '../panel/dialogs';
import { createHost } from '../panel/host';
import { createNavigation } from '../panel/navigation';
import { NewDraft } from '../panel/newDraft';
import { Places } from '../panel/places';
import { Value } from '../state/value';
import { COMMANDS, menuShower } from '../panel/rowMenu';
import type { ISideModel } from '../panel/sideModel';
import { SIDE_PANEL_ID, SidePanel } from '../panel/widgets';
import { IAgentChatPanel, IAgentChatPreferences, IAgentChatSession } from './tokens';

/** After the file browser and the running kernels, before the extensions. */
const RANK = 300;
const STATE_KEY = 'jupyter-agentchat:panel';

function activate(
  app: JupyterFrontEnd,
  { session, status }: IAgentChatSession,
  preferences: IAgentChatPreferences,
  rendermime: IRenderMimeRegistry,
  translator: ITranslator | null,
  languages: IEditorLanguageRegistry | null,
  restorer: ILayoutRestorer | null,
  state: IStateDB | null,
): IAgentChatPanel {
  const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
  const model: ISideModel = {
    openId: new Value<string | null>(null),
    tabId: new Value<string | null>(null),
    renamingId: new Value<string | null>(null),
    searchWanted: new Value(false),
    trashOpen: new Value(false),
    draft: new NewDraft(),
  };
  mountHighlightStyle();
  const places = new Places(app.shell, model, () => preferences.values.getSnapshot().openChatsIn);
  const context: IPanelContext = {
    start: () => {
      session.start();
      void session.providers.load();
    },
    session,
    status,
    preferences: preferences.values,
    navigation: createNavigation(
      session,
      places,
      place => preferences.rememberPlace(place),
      createDialogs(trans),
      trans,
    ),
    host: createHost({
      commands: app.commands,
      contents: app.serviceManager.contents,
      settings: app.serviceManager.serverSettings,
      status,
      trans,
      showMenu: menuShower(app.commands),
    }),
    markdown: new MarkdownRenderer(
      {
        parser: rendermime.markdownParser,
        sanitizer: rendermime.sanitizer,
        typesetter: rendermime.latexTypesetter,
      },
      trans,
    ),
    highlight: languages && createHighlight(languages),
    trans,
  };
  const side = new SidePanel(context, model);
  places.connect(context, side);
  app.shell.add(side, 'left', { rank: RANK, type: 'Agent chats' });
  restorer?.add(side, SIDE_PANEL_ID);
  void restorer?.restore(places.tabs, {
    command: COMMANDS.openChat,
    args: tab => ({ id: tab.content.chatId, main: true, activate: false }),
    name: tab => tab.content.chatId,
  });
  if (state) {
    void rememberOpenChat(state, model);
  }
  return { context, places, model };
}

/** The chat that is open in the side panel, over a reload; what was opened meanwhile wins. */
async function rememberOpenChat(state: IStateDB, model: ISideModel): Promise<void> {
  const before: unknown = await state.fetch(STATE_KEY).catch(() => null);
  const openId = before && typeof before === 'object' && 'openId' in before ? before.openId : null;
  if (typeof openId === 'string' && model.openId.getSnapshot() === null) {
    model.openId.set(openId);
  }
  model.openId.subscribe(() => {
    state.save(STATE_KEY, { openId: model.openId.getSnapshot() }).catch(() => undefined);
  });
}

export const panel: JupyterFrontEndPlugin<IAgentChatPanel> = {
  id: 'jupyter-agentchat:panel',
  description: 'The side panel and the tabs that show chats with coding agents.',
  autoStart: true,
  requires: [IAgentChatSession, IAgentChatPreferences, IRenderMimeRegistry],
  optional: [ITranslator, IEditorLanguageRegistry, ILayoutRestorer, IStateDB],
  provides: IAgentChatPanel,
  activate,
};
