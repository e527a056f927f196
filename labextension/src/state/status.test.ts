import { expect, it } from 'vitest';

import { chatRow } from '../testing/fake_server';
import { chatToOpen, isQuiet } from './status';

it('leads to the chat that has waited longest, and from there to the next one', () => {
  const chats = [
    chatRow('late', { state: 'waiting', updated: '2026-01-03T00:00:00.000Z' }),
    chatRow('busy', { state: 'running', updated: '2026-01-02T00:00:00.000Z' }),
    chatRow('early', { state: 'waiting', updated: '2026-01-01T00:00:00.000Z' }),
    chatRow('away', { state: 'waiting', archived: true }),
  ];
  expect(chatToOpen(chats, null)?.id).toBe('early');
  expect(chatToOpen(chats, 'early')?.id).toBe('late');
  expect(chatToOpen(chats.slice(0, 1), 'late')?.id).toBe('late');
  expect(chatToOpen(chats.slice(1, 2), null)?.id).toBe('busy');
  expect(chatToOpen([chatRow('idle')], null)).toBeNull();
});

it('is quiet when nothing runs and nobody is needed', () => {
  expect(isQuiet({ running: 0, needsYou: 0 })).toBe(true);
  expect(isQuiet({ running: 1, needsYou: 0 })).toBe(false);
  expect(isQuiet({ running: 0, needsYou: 1 })).toBe(false);
});
