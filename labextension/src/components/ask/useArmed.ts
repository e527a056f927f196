/** Guards against the key or click that was meant for something else when an ask appeared. */
import { useEffect, useState } from 'react';

/** ms that a person has had an ask in sight before a yes counts. */
export const INERT_MS = 500;

/**
 * False for the first 500 ms in which this ask could be seen, then true. A hidden page does not count. Give the
 * component that calls it a `key` per ask. Rule: security, §3 labextension.
 */
export function useArmed(): boolean {
  const [armed, setArmed] = useState(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const start = (): void => {
      clearTimeout(timer);
      if (document.visibilityState !== 'hidden') {
        timer = setTimeout(() => setArmed(true), INERT_MS);
      }
    };
    start();
    document.addEventListener('visibilitychange', start);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', start);
    };
  }, []);
  return armed;
}
