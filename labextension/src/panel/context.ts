/** What the views of this room share: the session, what JupyterLab does for them, and where chats are shown. */
import { createContext, useContext } from 'react';

import type { Status } from '../client/answers';
import type { Highlight } from '../components/markdown/highlight';
import type { IMarkdownRenderer } from '../components/markdown/renderer';
import type { SendKey } from '../components/composer/composerKeys';
import type { Trans } from '../components/common/trans';
import type { IFolderEntry } from '../components/start/folderPrompts';
import type { Chat, NewChat } from '../protocol/generated';
import type { IReadable, ISession } from '../state/stores';

export type ExportFormat = 'jsonl' | 'md';

/** Where a chat is shown. */
export type Place = 'side' | 'main';

export interface IPreferences {
  readonly sendKey: SendKey;
  readonly openChatsIn: Place;
}

/** What JupyterLab does for us; paths of projects are relative to the server root. */
export interface IHost {
  copyText(this: void, text: string): void;
  /** Null where JupyterLab has no terminals. */
  readonly openTerminal: ((project: string | null) => void) | null;
  openFile(this: void, project: string | null, path: string, line?: number): void;
  /** The entries of a folder; an empty list when it cannot be read. */
  listFolder(this: void, project: string): Promise<readonly IFolderEntry[]>;
  /** Asks before an agent may work without asking. */
  confirmFullAccess(this: void, agent: string): Promise<boolean>;
  showMenu(this: void, chat: Chat, at: { x: number; y: number }, place: Place | 'list'): void;
  blobUrl(this: void, chatId: string, blobId: string): string;
  /** Downloads the chat as a file. */
  exportChat(this: void, chatId: string, format: ExportFormat): void;
  /** An address that opens the chat in this JupyterLab. */
  chatLink(this: void, chatId: string): string;
  reloadPage(this: void): void;
}

/** What has to be asked or told wherever the person is. */
export interface IDialogs {
  /** Asks before a run is stopped because its chat is deleted. */
  confirmStop(this: void, title: string): Promise<boolean>;
  showFailure(this: void, title: string, words: string): void;
}

/** An event of a chat; `match` is what was looked for there. */
export type EventPlace = { readonly seq: number; readonly match?: string };

/** Opening, closing and making chats. */
export interface INavigation {
  /**
   * Without a place: where it is open already, else where this person opens chats. `at`: the event to go to.
   */
  open(this: void, id: string, place?: Place, at?: EventPlace): void;
  /** As `open`, and the place becomes the one where this person opens chats. */
  move(this: void, id: string, place: Place): void;
  showList(this: void): void;
  /** Makes a chat and opens it. Rejects with an `Error` for people when the server refused. */
  create(this: void, settings: Partial<NewChat>, place?: Place): Promise<Chat>;
  /** Opens the empty chat that this project has already, else makes one: no heap of chats without a word. */
  start(this: void, project: string, place?: Place): Promise<Chat>;
  /** As `create`, and sends the first prompt. */
  begin(this: void, settings: Partial<NewChat>, text: string): Promise<void>;
  takeTour(this: void): void;
  rename(this: void, chat: Chat, title: string): void;
  /** Into the trash, with a way back; asks before a run is stopped for it. */
  remove(this: void, chat: Chat): void;
}

export interface IPanelContext {
  /** Connects and loads; called when the first view is seen, later calls do nothing. */
  start(this: void): void;
  readonly session: ISession;
  /** Null until the server has answered. */
  readonly status: IReadable<Status | null>;
  readonly preferences: IReadable<IPreferences>;
  readonly navigation: INavigation;
  readonly host: IHost;
  readonly markdown: IMarkdownRenderer;
  readonly highlight: Highlight | null;
  readonly trans: Trans;
}

/** Whether the widget around a view is in front of the person, not behind another tab. */
export const ShownContext = createContext<IReadable<boolean> | null>(null);

export const PanelContext = createContext<IPanelContext | null>(null);

export function usePanel(): IPanelContext {
  const panel = useContext(PanelContext);
  if (panel === null) {
    throw new Error('A view stands outside of <PanelContext.Provider>.');
  }
  return panel;
}
