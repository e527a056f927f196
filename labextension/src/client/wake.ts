/** Moments at which waiting makes no sense any more: the network or the person is back. */

const WINDOW_EVENTS = ['online', 'pageshow', 'focus'] as const;
const DOCUMENT_EVENTS = ['visibilitychange', 'resume'] as const;

/** Calls `wake` at each; the answer ends that. Does nothing where there is no page. */
export function watchWake(wake: () => void): () => void {
  if (typeof window === 'undefined' || typeof document === 'undefined') {
    return () => undefined;
  }
  const ifVisible = (): void => {
    if (document.visibilityState === 'visible') {
      wake();
    }
  };
  WINDOW_EVENTS.forEach(name => window.addEventListener(name, wake));
  DOCUMENT_EVENTS.forEach(name => document.addEventListener(name, ifVisible));
  return () => {
    WINDOW_EVENTS.forEach(name => window.removeEventListener(name, wake));
    DOCUMENT_EVENTS.forEach(name => document.removeEventListener(name, ifVisible));
  };
}

/** Whether somebody may be looking at this page now. */
export function isLookedAt(): boolean {
  return typeof document === 'undefined' || !document.hidden;
}
