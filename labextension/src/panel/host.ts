/** JupyterLab's part of what views need: clipboard, terminals, files, dialogs. */
import { Clipboard, Dialog, showDialog } from '@jupyterlab/apputils';
import { PageConfig, URLExt } from '@jupyterlab/coreutils';
import type { Contents, ServerConnection } from '@jupyterlab/services';
import type { CommandRegistry } from '@lumino/commands';

import type { Status } from '../client/answers';
import type { Trans } from '../components/common/trans';
import type { IReadable } from '../state/stores';
import type { IHost } from './context';
import { chatLinkOf } from './links';
import { contentsPath } from './paths';

export interface IHostParts {
  readonly commands: CommandRegistry;
  readonly contents: Contents.IManager;
  readonly settings: ServerConnection.ISettings;
  readonly status: IReadable<Status | null>;
  readonly trans: Trans;
  readonly showMenu: IHost['showMenu'];
}

const TERMINAL = 'terminal:create-new';
const LIST_LIMIT_MS = 10_000;

export function createHost(parts: IHostParts): IHost {
  const { commands, contents, settings, status, trans } = parts;
  const terminals = PageConfig.getOption('terminalsAvailable').toLowerCase() === 'true';
  const chatUrl = (chatId: string, ...rest: string[]) =>
    URLExt.join(settings.baseUrl, 'agentchat/api/chats', encodeURIComponent(chatId), ...rest);
  const openFile = async (project: string | null, path: string, line?: number) => {
    const found = contentsPath(project, path, status.getSnapshot()?.server_root ?? '/');
    if (found === null) {
      await showDialog({
        title: trans.__('This file cannot be opened here'),
        body: trans.__('%1 lies outside of the folder of this server.', path),
        buttons: [Dialog.okButton()],
      });
      return;
    }
    await commands.execute('docmanager:open', { path: found });
    if (line !== undefined && commands.hasCommand('fileeditor:go-to-line')) {
      // a notebook in front has no lines: then the command is not enabled
      await commands.execute('fileeditor:go-to-line', { line }).catch(() => undefined);
    }
  };
  return {
    copyText: text => Clipboard.copyToSystem(text),
    openTerminal: terminals
      ? project => void commands.execute(TERMINAL, project ? { cwd: project } : {})
      : null,
    openFile: (project, path, line) => {
      openFile(project, path, line).catch(() => undefined); // JupyterLab has shown why
    },
    listFolder: async project => {
      const deadline = new Promise<null>(done => setTimeout(() => done(null), LIST_LIMIT_MS));
      const listing = contents.get(project, { content: true }).catch(() => null);
      const folder = await Promise.race([listing, deadline]);
      const entries: unknown = folder?.content;
      return Array.isArray(entries) ? (entries as Contents.IModel[]) : [];
    },
    confirmFullAccess: async agent => {
      const answer = await showDialog({
        title: trans.__('Work without asking?'),
        body: trans.__(
          '%1 will change files and run commands in this project without asking you. You can lower this at any time.',
          agent,
        ),
        // Enter out of habit must not say yes
        defaultButton: 0,
        buttons: [
          Dialog.cancelButton({ label: trans.__('Cancel') }),
          Dialog.warnButton({ label: trans.__('Allow full access') }),
        ],
      });
      return answer.button.accept;
    },
    showMenu: parts.showMenu,
    blobUrl: (chatId, blobId) => chatUrl(chatId, 'blobs', encodeURIComponent(blobId)),
    exportChat: (chatId, format) => {
      // the server names the file; a link sends cookie and referrer, which it asks for
      const link = document.createElement('a');
      link.href = `${chatUrl(chatId, 'export')}?format=${format}`;
      link.download = '';
      document.body.append(link);
      link.click();
      link.remove();
    },
    chatLink: chatLinkOf,
    reloadPage: () => window.location.reload(),
  };
}
