/** What can be done with a chat as a whole: the entries of its menu. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { InputDialog, showErrorMessage } from '@jupyterlab/apputils';

import { failureWords } from '../components/common/failureWords';
import {
  archiveIcon,
  deleteIcon,
  exportIcon,
  forkIcon,
  linkIcon,
  pinIcon,
  readIcon,
  renameIcon,
  unreadIcon,
} from '../components/icons/labIcons';
import type { Chat } from '../protocol/generated';
import type { ExportFormat } from '../panel/context';
import { COMMANDS } from '../panel/rowMenu';
import { flag, text, type Args } from './args';
import { IAgentChatPanel } from './tokens';

function formatOf(args: Args): ExportFormat {
  return text(args, 'format') === 'md' ? 'md' : 'jsonl';
}

function activate(
  { commands }: JupyterFrontEnd,
  { context, places, model }: IAgentChatPanel,
): void {
  const { session, navigation, host, trans } = context;

  /** The chat that a command is about: the one named, else the one in front. */
  const chatOf = (args: Args): Chat | undefined => {
    const id = text(args, 'id') ?? places.currentId();
    return id ? session.list.get(id) : undefined;
  };
  const change = (work: Promise<unknown>) => {
    work.catch((error: unknown) => {
      const why = error instanceof Error ? error : String(error);
      void showErrorMessage(trans.__('The chat was not changed'), why);
    });
  };
  const isEnabled = (args: Args) => chatOf(args) !== undefined;

  commands.addCommand(COMMANDS.rename, {
    label: trans.__('Rename…'),
    icon: renameIcon,
    isEnabled,
    execute: async args => {
      const chat = chatOf(args);
      if (!chat) {
        return;
      }
      if (flag(args, 'inline')) {
        model.renamingId.set(chat.id);
        return;
      }
      const { button, value } = await InputDialog.getText({
        title: trans.__('Rename the chat'),
        label: trans.__('Title'),
        text: chat.title,
        okLabel: trans.__('Rename'),
      });
      const title = value?.trim();
      if (button.accept && title) {
        navigation.rename(chat, title);
      }
    },
  });

  // answers the id of the new chat
  commands.addCommand(COMMANDS.fork, {
    label: trans.__('Fork from last message'),
    icon: forkIcon,
    isEnabled: args => (chatOf(args)?.last_seq ?? 0) > 0,
    execute: async args => {
      const chat = chatOf(args);
      const outcome = chat && (await session.chat(chat.id).fork(null));
      if (outcome?.ok) {
        navigation.open(outcome.chat.id);
        return outcome.chat.id;
      }
      if (outcome) {
        const why = failureWords(outcome.failure, trans);
        void showErrorMessage(trans.__('The chat was not forked'), why);
      }
      return null;
    },
  });

  commands.addCommand(COMMANDS.markUnread, {
    label: trans.__('Mark as unread'),
    icon: unreadIcon,
    isEnabled: args => chatOf(args)?.unread === false,
    execute: args => {
      const chat = chatOf(args);
      if (chat) {
        change(session.list.markUnread(chat.id));
      }
    },
  });

  commands.addCommand(COMMANDS.markRead, {
    label: trans.__('Mark as read'),
    icon: readIcon,
    isEnabled: args => chatOf(args)?.unread === true,
    execute: args => {
      const chat = chatOf(args);
      if (chat) {
        change(session.list.markRead(chat.id));
      }
    },
  });

  commands.addCommand(COMMANDS.export, {
    label: args =>
      formatOf(args) === 'md' ? trans.__('Export as Markdown') : trans.__('Export as JSON Lines'),
    icon: exportIcon,
    isEnabled,
    execute: args => {
      const chat = chatOf(args);
      if (chat) {
        host.exportChat(chat.id, formatOf(args));
      }
    },
  });

  commands.addCommand(COMMANDS.copyLink, {
    label: trans.__('Copy link'),
    icon: linkIcon,
    isEnabled,
    execute: args => {
      const chat = chatOf(args);
      if (chat) {
        host.copyText(host.chatLink(chat.id));
      }
    },
  });

  commands.addCommand(COMMANDS.pin, {
    label: args => (flag(args, 'pinned') === false ? trans.__('Unpin') : trans.__('Pin')),
    icon: pinIcon,
    isEnabled,
    execute: args => {
      const chat = chatOf(args);
      if (chat) {
        change(session.list.patch(chat.id, { pinned: flag(args, 'pinned') ?? !chat.pinned }));
      }
    },
  });

  commands.addCommand(COMMANDS.archive, {
    label: args =>
      flag(args, 'archived') === false ? trans.__('Take out of the archive') : trans.__('Archive'),
    icon: archiveIcon,
    isEnabled,
    execute: args => {
      const chat = chatOf(args);
      if (chat) {
        change(session.list.patch(chat.id, { archived: flag(args, 'archived') ?? true }));
      }
    },
  });

  commands.addCommand(COMMANDS.remove, {
    label: trans.__('Delete'),
    icon: deleteIcon,
    isEnabled,
    execute: args => {
      const chat = chatOf(args);
      if (chat) {
        navigation.remove(chat);
      }
    },
  });
}

export const chatCommands: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-agentchat:chat-commands',
  description: 'Commands that rename, fork, pin, archive and delete chats.',
  autoStart: true,
  requires: [IAgentChatPanel],
  activate,
};
