/** An address opens a chat once. */
import { expect, it } from 'vitest';

import { chatLinkOf, readChatLink, withoutChatLink } from './links';

it('of a chat is read as that chat', () => {
  const link = new URL(chatLinkOf('abc~1.2'), 'http://127.0.0.1/');
  expect(readChatLink(link.search)).toEqual({ id: 'abc~1.2', seq: undefined });
});

it.each([
  ['?agentchat=c1:42', { id: 'c1', seq: 42 }],
  ['?reset&agentchat=c1', { id: 'c1', seq: undefined }],
  ['?agentchat=', null],
  ['?agentchat=c1:x', null],
  ['?other=1', null],
])('%s', (query, expected) => {
  expect(readChatLink(query)).toEqual(expected);
});

it('leaves the rest of the address alone', () => {
  expect(withoutChatLink('?agentchat=c1')).toBe('');
  expect(withoutChatLink('?a=1&agentchat=c1&b=2')).toBe('?a=1&b=2');
});
