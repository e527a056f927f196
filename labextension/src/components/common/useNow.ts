/** A clock for relative times. */
import { useEffect, useState } from 'react';

/** The present, anew every `everyMs` while the component is on the page. */
export function useNow(everyMs: number): Date {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
