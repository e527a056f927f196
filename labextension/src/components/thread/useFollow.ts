/** Follow mode as React sees it: whether the end is followed, and how much has come since it is not. */
import { useEffect, useLayoutEffect, useState } from 'react';

import type { IReading, ThreadView } from '../../state/stores';
import { FollowMode } from './followMode';
import { countAfter, lastSeq } from './pages';
import { goToPlace, readPlace } from './readingPlace';

export interface IFollow {
  /** Goes to the end and follows it. Keeps its identity. */
  follow: () => void;
  /** Stays where it is. Keeps its identity. */
  release: () => void;
  follows: boolean;
  /** What has come since the reader left the end. */
  news: number;
}

export function useFollow(
  scroller: HTMLElement | null,
  content: HTMLElement | null,
  view: ThreadView,
  reading?: IReading,
): IFollow {
  const [follows, setFollows] = useState(() => !reading?.place);
  const [mode] = useState(() => new FollowMode(setFollows, follows));
  const [leftAt, setLeftAt] = useState<number | null>(null);
  const [follow] = useState(() => () => mode.follow());
  const [release] = useState(() => () => mode.release());

  if (follows && leftAt !== null) {
    setLeftAt(null);
  } else if (!follows && leftAt === null) {
    setLeftAt(lastSeq(view.turns));
  }

  useEffect(
    () => (scroller !== null && content !== null ? mode.attach(scroller, content) : undefined),
    [mode, scroller, content],
  );
  // the thread is built anew where it is moved to: back to where the person was
  useLayoutEffect(() => {
    if (scroller === null || reading === undefined) {
      return undefined;
    }
    if (reading.place !== null && !goToPlace(scroller, reading.place)) {
      mode.follow();
    }
    let frame = 0;
    const note = (): void => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => {
        const place = readPlace(scroller);
        reading.place = mode.following ? null : (place ?? reading.place);
      });
    };
    scroller.addEventListener('scroll', note, { passive: true });
    return () => {
      cancelAnimationFrame(frame);
      scroller.removeEventListener('scroll', note);
    };
  }, [mode, reading, scroller]);
  // what was rendered just now must be in sight before it is painted
  useLayoutEffect(() => {
    mode.pin();
  }, [mode, view.turns, view.pending]);
  // whoever sends something wants to see it
  const sending = view.pending.findLast(({ place }) => place === 'thread')?.clientId ?? null;
  useEffect(() => {
    if (sending !== null) {
      mode.follow();
    }
  }, [mode, sending]);

  return { follow, release, follows, news: leftAt === null ? 0 : countAfter(view.turns, leftAt) };
}
