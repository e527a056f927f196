/** Addresses that open a chat in JupyterLab: `…/lab?agentchat=ID`, or `…?agentchat=ID:SEQ` for one event. */
import { PageConfig, URLExt } from '@jupyterlab/coreutils';

export const LINK_ARGUMENT = 'agentchat';

export function chatLinkOf(chatId: string): string {
  const app = PageConfig.getOption('appUrl') || 'lab';
  const page = URLExt.join(PageConfig.getBaseUrl(), app);
  return `${page}?${LINK_ARGUMENT}=${encodeURIComponent(chatId)}`;
}

export type ChatLink = { readonly id: string; readonly seq: number | undefined };

/** What the query of an address names; null when it names no chat. */
export function readChatLink(query: string): ChatLink | null {
  const named = new URLSearchParams(query).get(LINK_ARGUMENT);
  const match = /^([^:]+)(?::(\d{1,15}))?$/u.exec(named ?? '');
  const [, id, seq] = match ?? [];
  return id === undefined ? null : { id, seq: seq === undefined ? undefined : Number(seq) };
}

/** The query without the chat, so that a reload does not open it again. */
export function withoutChatLink(query: string): string {
  const left = new URLSearchParams(query);
  left.delete(LINK_ARGUMENT);
  const rest = left.toString();
  return rest === '' ? '' : `?${rest}`;
}
