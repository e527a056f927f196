/** What was typed is there again after a reload, until it has been sent. */
import { describe, expect, it } from 'vitest';

import type { DraftBase, DraftView, KeptDraft } from '../state/stores';
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
    const draft = new Value<DraftView>({
      text: '',
      attachments: [],
      unsent: '',
      sending: false,
      refusal: null,
      trust: null,
    });
    const set = (fields: Partial<DraftView>) => draft.set({ ...draft.getSnapshot(), ...fields });
    const saved = new Value<DraftBase>({ revision: 0, text: '' });
    const local = () => {
      const { unsent, text } = draft.getSnapshot();
      return [unsent, text].filter(part => part !== '').join('\n\n');
    };
    const followed: KeptDraft[] = [];
    const draftSync = {
      saved,
      offer: new Value(null),
      follow: (before: KeptDraft) => {
        followed.push(before);
        set({ text: before.text });
        return () => undefined;
      },
      kept: () => ({ text: local(), base: saved.getSnapshot() }),
      flush: () => undefined,
      refresh: () => Promise.resolve(),
      useOther: () => undefined,
      keepMine: () => undefined,
    };
    mirrorDraft({ id, draft, draftSync }, storage);
    return { set, saved, text: () => draft.getSnapshot().text, base: () => followed[0]?.base };
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
    page.set({ text: '', unsent: 'do it', sending: true });
    page.set({ text: 'and then' });
    expect(openPage('a').text()).toBe('do it\n\nand then');
  });

  it('is gone once the prompt was taken', () => {
    const { openPage, kept } = browser();
    const page = openPage('a');
    page.set({ text: 'do it' });
    page.set({ text: '', unsent: 'do it', sending: true });
    page.set({ unsent: '', sending: false });
    expect(openPage('a').text()).toBe('');
    expect(kept.size).toBe(0);
  });

  it('comes back with the draft of the server that it began from', () => {
    const { openPage } = browser();
    const page = openPage('a');
    page.saved.set({ revision: 4, text: 'half' });
    page.set({ text: 'half a sen' });
    expect(openPage('a').base()).toEqual({ revision: 4, text: 'half' });
  });

  it('remembers that it was cleared while the server still has it', () => {
    const { openPage } = browser();
    const page = openPage('a');
    page.saved.set({ revision: 4, text: 'half' });
    page.set({ text: 'half' });
    page.set({ text: '' });
    expect(openPage('a').base()).toEqual({ revision: 4, text: 'half' });
  });

  it('of which another tab wrote the text began from nobody knows what', () => {
    const { openPage, kept } = browser();
    const page = openPage('a');
    page.saved.set({ revision: 4, text: 'half' });
    page.set({ text: 'half a sen' });
    kept.set('agentchat:draft:a', 'something else');
    expect(openPage('a').base()).toEqual({ revision: 0, text: '' });
  });
});
