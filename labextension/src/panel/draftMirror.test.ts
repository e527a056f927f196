/** What was typed is there again after a reload, until it has been sent. */
import { describe, expect, it } from 'vitest';

import type { DraftView } from '../state/stores';
import { Value } from '../state/value';
import { mirrorDraft } from './draftMirror';

function browser() {
  const kept = new Map<string, string>();
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, text: string) => void kept.set(key, text),
    removeItem: (key: string) => void kept.delete(key),
  };
  const openPage = (id: string) => {
    const draft = new Value<DraftView>({ text: '', sending: false, refusal: null, trust: null });
    const set = (fields: Partial<DraftView>) => draft.set({ ...draft.getSnapshot(), ...fields });
    mirrorDraft({ id, draft, setDraft: text => set({ text }) }, storage);
    return { set, text: () => draft.getSnapshot().text };
  };
  return { openPage, kept };
}

describe('draft over a reload', () => {
  it('comes back in its own chat only', () => {
    const { openPage } = browser();
    openPage('a').set({ text: 'half a sen' });
    expect(openPage('a').text()).toBe('half a sen');
    expect(openPage('b').text()).toBe('');
  });

  it('comes back when the page was closed before the server had answered', () => {
    const { openPage } = browser();
    const page = openPage('a');
    page.set({ text: 'do it' });
    page.set({ text: '', sending: true });
    expect(openPage('a').text()).toBe('do it');
  });

  it('is gone once the prompt was taken', () => {
    const { openPage, kept } = browser();
    const page = openPage('a');
    page.set({ text: 'do it' });
    page.set({ text: '', sending: true });
    page.set({ sending: false });
    expect(openPage('a').text()).toBe('');
    expect(kept.size).toBe(0);
  });
});
