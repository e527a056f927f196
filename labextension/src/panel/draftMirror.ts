/**
 * Drafts over a reload of the page: kept in this browser, one copy per chat, gone when the text is sent.
 *
 * The server's draft (`state/draft_sync`) goes to other devices; this copy is there at once, and without a connection.
 */
import { isRecord } from '../client/errors';
import type { DraftBase, IChatStore, KeptDraft } from '../state/stores';

const PREFIX = 'agentchat:draft:';
/** Beside it: which draft of the server the text began from. */
const BASE_PREFIX = 'agentchat:draft-base:';
const NEVER: DraftBase = { revision: 0, text: '' };

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
 * Brings back what was written before a reload, then keeps this copy and the server's up to date; the answer ends that.
 *
 * A prompt on its way stays in the copy until it was taken: the page may be closed before the answer comes.
 */
export function mirrorDraft(
  { id, draft, draftSync }: Pick<IChatStore, 'id' | 'draft' | 'draftSync'>,
  storage: DraftStorage | null,
): () => void {
  const endSync = draftSync.follow(readKept(storage, id));
  const write = () => writeKept(storage, id, draftSync.kept());
  const ends = [endSync, draft.subscribe(write), draftSync.saved.subscribe(write)];
  return () => ends.forEach(end => end());
}

/** A page that is hidden may never be seen again, and one that is back may have been overtaken. */
export function watchPage({ draftSync }: Pick<IChatStore, 'draftSync'>): () => void {
  const look = () => {
    if (document.visibilityState === 'visible') {
      void draftSync.refresh();
    } else {
      draftSync.flush(true);
    }
  };
  const leave = () => draftSync.flush(true);
  document.addEventListener('visibilitychange', look);
  window.addEventListener('pagehide', leave);
  return () => {
    document.removeEventListener('visibilitychange', look);
    window.removeEventListener('pagehide', leave);
  };
}

function readKept(storage: DraftStorage | null, id: string): KeptDraft {
  const text = readText(storage, PREFIX + id);
  try {
    const noted: unknown = JSON.parse(readText(storage, BASE_PREFIX + id));
    // another tab may have written the text since: then nobody knows what it began from
    return isRecord(noted) && noted.of === text && isBase(noted.base)
      ? { text, base: noted.base }
      : { text, base: NEVER };
  } catch {
    return { text, base: NEVER };
  }
}

function isBase(value: unknown): value is DraftBase {
  return isRecord(value) && typeof value.revision === 'number' && typeof value.text === 'string';
}

function writeKept(storage: DraftStorage | null, id: string, { text, base }: KeptDraft): void {
  writeText(storage, PREFIX + id, text);
  const nothing = text === '' && base.text === '';
  writeText(storage, BASE_PREFIX + id, nothing ? '' : JSON.stringify({ of: text, base }));
}
