/** Drafts over a reload of the page: kept in this browser, one entry per chat, gone when the text is sent. */
import type { IChatStore } from '../state/stores';

const PREFIX = 'agentchat:draft:';

/** `localStorage`, or nothing where it is switched off: drafts live as long as the page then. */
export type DraftStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

export function browserStorage(): DraftStorage | null {
  try {
    return localStorage;
  } catch {
    return null;
  }
}

export function readText(storage: DraftStorage | null, key: string): string {
  return storage?.getItem(key) ?? '';
}

export function writeText(storage: DraftStorage | null, key: string, text: string): void {
  try {
    if (text === '') {
      storage?.removeItem(key);
    } else {
      storage?.setItem(key, text);
    }
  } catch {
    // the quota is used up: as without storage
  }
}

/**
 * Brings back what was written before a reload, then keeps the copy up to date; the answer ends that.
 *
 * A prompt on its way stays in the copy until it was taken: the page may be closed before the answer comes.
 */
export function mirrorDraft(
  store: Pick<IChatStore, 'id' | 'draft' | 'setDraft'>,
  storage: DraftStorage | null,
): () => void {
  const key = PREFIX + store.id;
  const kept = readText(storage, key);
  const { text, sending } = store.draft.getSnapshot();
  if (text === '' && !sending && kept !== '') {
    store.setDraft(kept);
  }
  return store.draft.subscribe(() => {
    const draft = store.draft.getSnapshot();
    const onItsWay = draft.sending || draft.trust !== null;
    if (!onItsWay || draft.text !== '') {
      writeText(storage, key, draft.text);
    }
  });
}
