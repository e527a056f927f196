/** The draft that a rewind put aside, over a reload of the page; gone when it was inserted or discarded. */
import { isRecord } from '../client/errors';
import type { DraftContent, IChatStore } from '../state/stores';
import { readText, writeText, type DraftStorage } from './draftMirror';

const PREFIX = 'agentchat:saved-draft:';

/** Brings it back, then keeps the copy up to date; the answer ends that. */
export function mirrorSavedDraft(
  store: Pick<IChatStore, 'id' | 'rewinds'>,
  storage: DraftStorage | null,
): () => void {
  const key = PREFIX + store.id;
  const kept = parse(readText(storage, key));
  if (kept) {
    store.rewinds.keep(kept);
  }
  return store.rewinds.subscribe(() => {
    const { saved } = store.rewinds.getSnapshot();
    writeText(storage, key, saved === null ? '' : JSON.stringify(saved));
  });
}

function parse(json: string): DraftContent | null {
  try {
    const kept: unknown = JSON.parse(json);
    return isRecord(kept) && typeof kept.text === 'string' && Array.isArray(kept.attachments)
      ? { text: kept.text, attachments: kept.attachments as DraftContent['attachments'] }
      : null;
  } catch {
    return null;
  }
}
