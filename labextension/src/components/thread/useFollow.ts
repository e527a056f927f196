/** Follow mode as React sees it: whether the end is followed, and how much has come since it is not. */
import { useEffect, useLayoutEffect, useState } from 'react';

import type { ThreadView } from '../../state/stores';
import { FollowMode } from './followMode';
import { countAfter, lastSeq } from './pages';

export interface IFollow {
  /** Goes to the end and follows it. Keeps its identity. */
  follow: () => void;
  follows: boolean;
  /** What has come since the reader left the end. */
  news: number;
}

export function useFollow(
  scroller: HTMLElement | null,
  content: HTMLElement | null,
  view: ThreadView,
): IFollow {
  const [follows, setFollows] = useState(true);
  const [mode] = useState(() => new FollowMode(setFollows));
  const [leftAt, setLeftAt] = useState<number | null>(null);
  const [follow] = useState(() => () => mode.follow());

  if (follows && leftAt !== null) {
    setLeftAt(null);
  } else if (!follows && leftAt === null) {
    setLeftAt(lastSeq(view.turns));
  }

  useEffect(
    () => (scroller !== null && content !== null ? mode.attach(scroller, content) : undefined),
    [mode, scroller, content],
  );
  // what was rendered just now must be in sight before it is painted
  useLayoutEffect(() => {
    mode.pin();
  }, [mode, view.turns, view.pending]);
  // whoever sends something wants to see it
  const sending = view.pending?.clientId ?? null;
  useEffect(() => {
    if (sending !== null) {
      mode.follow();
    }
  }, [mode, sending]);

  return { follow, follows, news: leftAt === null ? 0 : countAfter(view.turns, leftAt) };
}
