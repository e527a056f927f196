// @vitest-environment jsdom
import { PageConfig } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';
import { afterEach, expect, it } from 'vitest';

import { jupyterHttp, jupyterSockets } from './jupyter';
import { AgentChatApi } from './rest';

const BASE = 'https://hub.example/user/ada%40x/';

function settingsWith(fields: Partial<ServerConnection.ISettings> = {}) {
  const requests: Request[] = [];
  const settings = ServerConnection.makeSettings({
    baseUrl: BASE,
    wsUrl: BASE.replace('https', 'wss'),
    token: 'secret',
    fetch: request => {
      requests.push(request as Request);
      return Promise.resolve(Response.json({}));
    },
    // jsdom's AbortSignal is not the one that Node's Request takes
    Request: class extends Request {
      constructor(url: string, init: RequestInit) {
        super(url, { ...init, signal: null });
      }
    } as typeof Request,
    Headers,
    ...fields,
  });
  return { requests, api: new AgentChatApi(jupyterHttp(settings)), settings };
}

afterEach(() => {
  document.cookie = '_xsrf=; max-age=0';
  PageConfig.setOption('hubUser', '');
});

it('approvals go without the token, so that only the cookie counts; all else goes as usual', async () => {
  document.cookie = '_xsrf=x1';
  const { api, requests } = settingsWith();
  await api.answer('c', 'a', { decision: 'allow' });
  await api.answer('c', 'a', { decision: 'deny' });
  const seen = requests.map(({ headers }) => [
    headers.get('Authorization'),
    headers.get('X-XSRFToken'),
  ]);
  expect(seen).toEqual([
    [null, 'x1'],
    ['token secret', 'x1'],
  ]);
});

it('addresses stay below the base URL', async () => {
  const { api, requests } = settingsWith();
  await api.answer('//evil.example', '../../x', { decision: 'deny' });
  await api.trust('//evil.example/..');
  const [answer, trust] = requests.map(({ url }) => url);
  expect(answer).toContain(`${BASE}agentchat/api/chats/%2F%2Fevil.example/asks/..%2F..%2Fx`);
  expect(trust).toContain(`${BASE}agentchat/api/projects/trust?path=%2F%2Fevil.example%2F..`);
});

it('sockets sign in by cookie, and by token only on a Hub that refused the cookie', () => {
  const urls: string[] = [];
  const WebSocket = function (url: string) {
    urls.push(url);
  } as unknown as ServerConnection.ISettings['WebSocket'];
  const { settings } = settingsWith({ WebSocket, appendToken: false });
  const url = 'wss://hub.example/user/ada%40x/agentchat/ws';
  const alone = jupyterSockets(settings);
  alone(false);
  alone(true);
  expect(urls.splice(0)).toEqual([url, url]);
  PageConfig.setOption('hubUser', 'ada');
  const onHub = jupyterSockets(settings);
  onHub(false);
  onHub(true);
  jupyterSockets({ ...settings, appendToken: true })(false);
  expect(urls).toEqual([url, `${url}?token=secret`, `${url}?token=secret`]);
});
