/** The client on JupyterLab's own connection settings: the one file of this room that knows JupyterLab. */
import { PageConfig, URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';

import type { Hello } from '../protocol/generated';
import type { ISocket, SocketFactory } from './connection';
import { Link } from './link';
import { AgentChatApi } from './rest';
import type { Http } from './rest';

/** Longer than the longest wait of the server (a first probe, 5 s) by far. */
export const HTTP_TIMEOUT_MS = 30_000;
/** Browsers refuse more than 64 KiB for all requests that outlive their page. */
const KEEPALIVE_BYTES = 32 * 1024;

/** Requests through `makeRequest`, which adds XSRF; `byPerson` leaves the token out so that the cookie counts. */
export function jupyterHttp(settings: ServerConnection.ISettings): Http {
  const withoutToken = ServerConnection.makeSettings({ ...settings, token: '' });
  return ({ method, path, body, byPerson, keepalive, signal }) =>
    ServerConnection.makeRequest(
      URLExt.join(settings.baseUrl, 'agentchat/api', path),
      {
        method,
        signal: deadline(signal),
        ...bodyOf(body, keepalive ?? false),
      },
      byPerson ? withoutToken : settings,
    );
}

function deadline(signal: AbortSignal | undefined): AbortSignal {
  const timeout = AbortSignal.timeout(HTTP_TIMEOUT_MS);
  return signal ? AbortSignal.any([timeout, signal]) : timeout;
}

function bodyOf(body: unknown, keepalive: boolean): RequestInit {
  if (body === undefined) {
    return {};
  }
  const json = JSON.stringify(body);
  const size = keepalive ? new TextEncoder().encode(json).length : 0;
  return keepalive && size <= KEEPALIVE_BYTES ? { body: json, keepalive } : { body: json };
}

/**
 * Sockets that sign in by cookie. The token is a second try on a Hub that does not take cookies there (security §7),
 * or where JupyterLab itself is told to append it.
 */
export function jupyterSockets(settings: ServerConnection.ISettings): SocketFactory {
  const url = URLExt.join(settings.wsUrl, 'agentchat/ws');
  const onHub = PageConfig.getOption('hubUser') !== '';
  return failedBefore => {
    const byToken = settings.token !== '' && (settings.appendToken || (onHub && failedBefore));
    const query = byToken ? `?token=${encodeURIComponent(settings.token)}` : '';
    return new settings.WebSocket(url + query) as ISocket;
  };
}

export type Client = { readonly api: AgentChatApi; readonly link: Link };

export function jupyterClient(
  settings: ServerConnection.ISettings,
  client: Hello['client'],
): Client {
  return {
    api: new AgentChatApi(jupyterHttp(settings)),
    link: new Link(jupyterSockets(settings), client),
  };
}
