/** A page of turns: in the document while it is near what the reader sees, else one box of its last height. */
import { memo, useEffect, useRef, useState } from 'react';

import { lastAgent } from '../../state/select';
import { Turn } from './Turn';
import type { PageOfTurns } from './pages';

export interface IPageProps {
  page: PageOfTurns;
  /** The scrolling element; null before it is there. */
  root: HTMLElement | null;
  /** Never leaves the document. */
  pinned: boolean;
  /** Somebody goes to a turn on it. */
  wanted: boolean;
  /** Key of the turn that runs, when it is on this page. */
  liveKey: string | null;
  /** Key of the turn that can be tried again, when it is on this page. */
  retryKey: string | null;
  /** Key of the turn whose checklist stands above the composer, when it is on this page. */
  planKey: string | null;
  onRetry: () => void;
}

/** Further than this from the view a page leaves the document. */
const MARGIN = '1500px 0px';
/** A page that comes back keeps its last height this long, ms: its Markdown may need a moment. */
const SETTLE = 300;

/** The focus or a selection is inside: taking the page away would take that away too. */
function holdsReader(element: HTMLElement): boolean {
  const selection = document.getSelection();
  const selected =
    selection !== null && !selection.isCollapsed && selection.containsNode(element, true);
  return selected || element.contains(document.activeElement);
}

type Presence = { away: boolean; height: number };

export const Page = memo(
  function Page(props: IPageProps) {
    const { page, root, pinned, wanted, liveKey, retryKey, planKey, onRetry } = props;
    const host = useRef<HTMLDivElement>(null);
    const [presence, setPresence] = useState<Presence>({ away: false, height: 0 });

    useEffect(() => {
      const element = host.current;
      if (root === null || element === null || pinned) {
        return undefined;
      }
      const observer = new IntersectionObserver(
        entries => {
          const entry = entries.at(-1);
          if (entry?.isIntersecting) {
            setPresence(now => (now.away ? { ...now, away: false } : now));
          } else if (entry && !holdsReader(element)) {
            setPresence({ away: true, height: entry.boundingClientRect.height });
          }
        },
        { root, rootMargin: MARGIN },
      );
      observer.observe(element);
      return () => {
        observer.disconnect();
      };
    }, [root, pinned]);

    if (wanted && presence.away) {
      setPresence({ ...presence, away: false });
    }
    const away = presence.away && !pinned && !wanted;
    useEffect(() => {
      if (away || presence.height === 0) {
        return undefined;
      }
      const timer = setTimeout(() => setPresence({ away: false, height: 0 }), SETTLE);
      return () => {
        clearTimeout(timer);
      };
    }, [away, presence.height]);

    return (
      <div
        ref={host}
        className="ac-page"
        style={away ? { height: presence.height } : { minHeight: presence.height || undefined }}
      >
        {away
          ? null
          : page.turns.map((turn, index) => (
              <Turn
                key={turn.key}
                turn={turn}
                agentBefore={lastAgent(page.turns.slice(0, index)) ?? page.agentBefore}
                live={turn.key === liveKey}
                onRetry={turn.key === retryKey ? onRetry : null}
                planPinned={turn.key === planKey}
              />
            ))}
      </div>
    );
  },
  (before, after) =>
    before.root === after.root &&
    before.pinned === after.pinned &&
    before.wanted === after.wanted &&
    before.liveKey === after.liveKey &&
    before.retryKey === after.retryKey &&
    before.planKey === after.planKey &&
    before.onRetry === after.onRetry &&
    before.page.agentBefore === after.page.agentBefore &&
    before.page.turns.length === after.page.turns.length &&
    before.page.turns.every((turn, index) => turn === after.page.turns[index]),
);
