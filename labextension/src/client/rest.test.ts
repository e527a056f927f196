import { describe, expect, it } from 'vitest';

import { ApiError, NoAnswer } from './errors';
import { AgentChatApi } from './rest';
import type { HttpRequest } from './rest';

function serve(answer: () => Response | Promise<Response>) {
  const requests: HttpRequest[] = [];
  const api = new AgentChatApi(async request => {
    requests.push(request);
    return answer();
  });
  return { api, requests };
}

const ok = () => Response.json({});

describe('what only a person may do', () => {
  it.each<[string, (api: AgentChatApi) => Promise<unknown>, boolean]>([
    ['allow', api => api.answer('c', 'a', { decision: 'allow' }), true],
    ['answer a question', api => api.answer('c', 'a', { decision: 'answered' }), true],
    ['deny', api => api.answer('c', 'a', { decision: 'deny' }), false],
    ['trust', api => api.decideTrust('p', { trusted: true, digest: 'd' }), true],
    ['distrust', api => api.decideTrust('p', { trusted: false, digest: 'd' }), false],
    ['raise', api => api.patchChat('c', { permission: 'full' }, true), true],
    ['rename', api => api.patchChat('c', { title: 't' }), false],
    ['start high', api => api.createChat({ mode: 'full_auto' }, true), true],
    ['prompt', api => api.prompt('c', { client_id: 'x', text: 'hi' }), false],
    ['stop', api => api.cancel('c'), false],
  ])('%s', async (_, call, byPerson) => {
    const { api, requests } = serve(ok);
    await call(api);
    expect(requests.map(request => request.byPerson)).toEqual([byPerson]);
  });
});

describe('paths', () => {
  it('are encoded, and queries leave out what was not asked', async () => {
    const { api, requests } = serve(ok);
    await api.answer('a/b', 'x?y#z', { decision: 'deny' });
    await api.chats({ q: 'a&b=ü', archived: false });
    await api.providers();
    await api.trust('some dir/../x');
    expect(requests.map(request => request.path)).toEqual([
      'chats/a%2Fb/asks/x%3Fy%23z',
      'chats?q=a%26b%3D%C3%BC&archived=false',
      'providers',
      'projects/trust?path=some+dir%2F..%2Fx',
    ]);
  });

  it.each(['..', '.'])('never leave their route by the id %j', async id => {
    const { api, requests } = serve(ok);
    await expect(api.events(id, { turns: 1 })).rejects.toMatchObject({ code: 'not_found' });
    await expect(api.chat(id)).rejects.toBeInstanceOf(ApiError);
    expect(requests).toEqual([]);
  });
});

describe('failures', () => {
  it('carry the code, message and details of the wire', async () => {
    const details = { path: 'p', loads: [], digest: 'd' };
    const { api } = serve(() =>
      Response.json(
        { error: { code: 'not_trusted', message: 'Decide', details } },
        { status: 409 },
      ),
    );
    await expect(api.prompt('c', { client_id: 'x', text: 'hi' })).rejects.toMatchObject({
      name: 'ApiError',
      code: 'not_trusted',
      message: 'Decide',
      details,
      status: 409,
    });
  });

  it('of a proxy in between get a code by their status', async () => {
    const { api } = serve(() => new Response('<html>Forbidden</html>', { status: 403 }));
    await expect(api.status()).rejects.toMatchObject({ code: 'forbidden', status: 403 });
  });

  it('without an answer, or with half of one, are told apart from refusals', async () => {
    const down = new AgentChatApi(() => Promise.reject(new TypeError('Failed to fetch')));
    await expect(down.status()).rejects.toBeInstanceOf(NoAnswer);
    const { api } = serve(() => new Response('{"chats": [', { status: 200 }));
    await expect(api.chats()).rejects.toBeInstanceOf(NoAnswer);
  });
});

it('events come through the gate', async () => {
  const { api } = serve(() => Response.json({ events: [{ seq: 1, type: 'x' }, 7], epoch: 'e' }));
  const page = await api.events('c', { turns: 10 });
  expect(page.events).toEqual([{ seq: 1, type: 'x', run_id: null }]);
});
