/** Goes to an event that somebody looked for, and marks it for a moment. */
import { useCallback, useEffect, useMemo, useRef } from 'react';
import { flushSync } from 'react-dom';

import type { JumpTarget } from '../../state/stores';
import type { Turn } from '../../state/view';
import { useServices } from '../common/services';

/** What is above it may still be rendering: it is held in sight this long, ms, or until the reader moves. */
const HOLD_MS = 1_500;
const MARK_MS = 2_500;
const MOVES = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const;

/** Where in the turns an event stands: its turn, and its part where it has one of its own. */
type Spot = {
  readonly turn: string;
  readonly part: string | null;
  readonly toolId: string | null;
};

export function spotOf(turns: readonly Turn[], seq: number): Spot | null {
  const turn = turns.findLast(known => known.seq <= seq);
  if (turn === undefined) {
    return null;
  }
  const part = [turn.user, ...turn.parts].find(known => known?.seq === seq) ?? null;
  const toolId = part?.type === 'tool' ? part.toolId : null;
  return { turn: turn.key, part: part?.key ?? null, toolId };
}

/** The element with that value in `data-ac-<name>`; values are ids of providers, so no selector is built of them. */
function marked(root: Element, name: string, value: string | null): HTMLElement | null {
  const all = root.querySelectorAll<HTMLElement>(`[data-ac-${name}]`);
  return [...all].find(element => element.getAttribute(`data-ac-${name}`) === value) ?? null;
}

function groupOf(root: Element, toolId: string): HTMLElement | null {
  const groups = root.querySelectorAll<HTMLElement>('[data-ac-tools]');
  return [...groups].find(({ dataset }) => dataset.acTools?.split(' ').includes(toolId)) ?? null;
}

/** A long answer is more than a screen: the part of it with the match. */
function blockWith(whole: HTMLElement, match: string): HTMLElement {
  if (match === '') {
    return whole;
  }
  const blocks = [...whole.querySelectorAll<HTMLElement>('p, li, pre, tr, h1, h2, h3, h4, h5, h6')];
  return blocks.find(({ textContent }) => textContent.includes(match)) ?? whole;
}

/** Somebody is writing: the focus stays there. */
function isWriting(): boolean {
  const field = document.activeElement;
  return field instanceof HTMLTextAreaElement && field.value !== '';
}

/** Keeps the element in the middle while what is around it grows; the answer ends that. */
function hold(element: HTMLElement, scroller: HTMLElement): () => void {
  const go = () => element.scrollIntoView({ block: 'center' });
  go();
  const observer = new ResizeObserver(go);
  [...scroller.children].forEach(child => observer.observe(child));
  const end = () => {
    clearTimeout(timer);
    observer.disconnect();
    MOVES.forEach(move => scroller.removeEventListener(move, end));
  };
  const timer = setTimeout(end, HOLD_MS);
  MOVES.forEach(move => scroller.addEventListener(move, end, { passive: true }));
  return end;
}

function markFor(element: HTMLElement): void {
  element.dataset.acFound = 'true';
  setTimeout(() => delete element.dataset.acFound, MARK_MS);
}

export interface IJumpOptions {
  target: JumpTarget | null;
  turns: readonly Turn[];
  scroller: HTMLElement | null;
  /** Stops following the end. */
  release: () => void;
  onDone: () => void;
}

/** The key of the turn that must be in the document now. */
export function useJump(options: IJumpOptions): string | null {
  const { target, turns, scroller, release, onDone } = options;
  const { folds } = useServices();
  const holding = useRef<() => void>(() => undefined);
  const spot = useMemo(
    // older turns are shown a moment after they were loaded
    () => (target && (turns[0]?.seq ?? Infinity) <= target.seq ? spotOf(turns, target.seq) : null),
    [target, turns],
  );
  const show = useCallback(
    (found: Spot, match: string, root: HTMLElement): void => {
      const turn = marked(root, 'turn', found.turn);
      if (turn === null) {
        return;
      }
      const group = found.toolId === null ? null : groupOf(turn, found.toolId);
      if (group?.dataset.acFold !== undefined) {
        const { acFold } = group.dataset;
        flushSync(() => folds.set(acFold, true));
      }
      const whole =
        (found.toolId === null
          ? marked(turn, 'part', found.part)
          : marked(turn, 'tool', found.toolId)) ??
        group ??
        turn;
      const element = blockWith(whole, match);
      release();
      holding.current();
      holding.current = hold(element, root);
      markFor(element);
      if (!isWriting()) {
        element.tabIndex = -1;
        element.focus({ preventScroll: true });
      }
      onDone();
    },
    [folds, onDone, release],
  );
  useEffect(() => {
    if (target === null || spot === null || scroller === null || scroller.clientHeight === 0) {
      return undefined;
    }
    const frame = requestAnimationFrame(() => show(spot, target.match, scroller));
    return () => cancelAnimationFrame(frame);
  }, [scroller, show, spot, target]);
  useEffect(() => () => holding.current(), []);
  return spot?.turn ?? null;
}
