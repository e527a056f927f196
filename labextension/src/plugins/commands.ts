/** Opening chats and talking in them as commands, for the palette, shortcuts, other extensions and tests. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';

import {
  chatIcon,
  deleteIcon,
  openMainIcon,
  searchChatsIcon,
  stopIcon,
  tourIcon,
} from '../components/icons/labIcons';
import type { Place } from '../panel/context';
import { COMMANDS } from '../panel/rowMenu';
import { count, flag, text, type Args } from './args';
import { IAgentChatPanel } from './tokens';

const IN_PALETTE = [
  COMMANDS.openPanel,
  COMMANDS.newChat,
  COMMANDS.takeTour,
  COMMANDS.focusComposer,
  COMMANDS.stop,
  COMMANDS.fork,
  COMMANDS.search,
  COMMANDS.showDeleted,
];

function placeOf(args: Args): Place | undefined {
  const main = flag(args, 'main');
  return main === undefined ? undefined : main ? 'main' : 'side';
}

function activate(
  { commands }: JupyterFrontEnd,
  { context, places, model }: IAgentChatPanel,
  palette: ICommandPalette | null,
): void {
  const { session, navigation, trans } = context;

  commands.addCommand(COMMANDS.openPanel, {
    label: trans.__('Open agent chats'),
    icon: chatIcon,
    execute: () => places.showPanel(),
  });

  // answers the id of the new chat
  commands.addCommand(COMMANDS.newChat, {
    label: args => (flag(args, 'launcher') ? trans.__('Agent chat') : trans.__('New agent chat')),
    caption: trans.__('Chat with a coding agent in this folder'),
    icon: chatIcon,
    execute: async args => {
      const project = text(args, 'project') ?? text(args, 'cwd') ?? '';
      const provider = text(args, 'provider');
      const place = placeOf(args);
      const chat = flag(args, 'launcher')
        ? await navigation.start(project, place)
        : await navigation.create({ project, ...(provider ? { provider } : {}) }, place);
      return chat.id;
    },
  });

  commands.addCommand(COMMANDS.openChat, {
    label: args =>
      flag(args, 'main')
        ? trans.__('Open in main area')
        : flag(args, 'menu')
          ? trans.__('Open in side panel')
          : trans.__('Open agent chat'),
    icon: args => (flag(args, 'main') ? openMainIcon : chatIcon),
    execute: args => {
      const id = text(args, 'id');
      const place = placeOf(args);
      if (id && place && flag(args, 'menu')) {
        navigation.move(id, place);
      } else if (id) {
        places.open(id, place, flag(args, 'activate') ?? true);
      }
      const seq = count(args, 'seq');
      if (id && seq !== undefined) {
        void session.chat(id).jump.to(seq);
      }
    },
  });

  commands.addCommand(COMMANDS.send, {
    label: trans.__('Send a message to a chat'),
    execute: async args => {
      const [id, message] = [text(args, 'id'), text(args, 'text')];
      if (id && message) {
        const store = session.chat(id);
        const release = store.open();
        await store.send(message).finally(release);
      }
    },
  });

  commands.addCommand(COMMANDS.stop, {
    label: trans.__('Stop the agent'),
    icon: stopIcon,
    isEnabled: args => (text(args, 'id') ?? places.currentId()) !== null,
    execute: async args => {
      const id = text(args, 'id') ?? places.currentId();
      if (id) {
        const store = session.chat(id);
        const release = store.open();
        await store.cancel().finally(release);
      }
    },
  });

  commands.addCommand(COMMANDS.search, {
    label: trans.__('Search agent chats'),
    icon: searchChatsIcon,
    execute: () => {
      model.trashOpen.set(false);
      places.showList();
      places.showPanel();
      model.searchWanted.set(true);
    },
  });

  commands.addCommand(COMMANDS.showDeleted, {
    label: trans.__('Recently deleted agent chats'),
    icon: deleteIcon,
    execute: () => {
      places.showList();
      model.trashOpen.set(true);
      places.showPanel();
    },
  });

  commands.addCommand(COMMANDS.focusComposer, {
    label: trans.__('Write to the agent'),
    execute: () => places.focusComposer(),
  });

  commands.addCommand(COMMANDS.takeTour, {
    label: trans.__('Take the tour'),
    caption: trans.__('See what agents can do here. No account needed.'),
    icon: tourIcon,
    execute: () => navigation.takeTour(),
  });

  const category = trans.__('Agent chat');
  IN_PALETTE.forEach(command => palette?.addItem({ command, category }));
}

export const commands: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-agentchat:commands',
  description: 'Commands that open chats with coding agents and talk in them.',
  autoStart: true,
  requires: [IAgentChatPanel],
  optional: [ICommandPalette],
  activate,
};
