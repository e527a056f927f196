/** Keeps an element filled with the rendering of a block that may still grow. */
import { useLayoutEffect, useRef } from 'react';

import { useServices } from '../common/services';

/** A growing block is rendered again after this many ms at the earliest, or after `FACTOR` times its last cost. */
const [INTERVAL, FACTOR] = [100, 10];

type Progress = { started: number; shown: number; nextAt: number };

/**
 * Shows `source` in the element of the returned ref. `live`: the block is still growing, so not every change is
 * rendered, but the last one always is. Results that come late never replace newer ones.
 */
export function useRenderedBlock(source: string, live: boolean): React.RefObject<HTMLDivElement> {
  const host = useRef<HTMLDivElement>(null);
  const progress = useRef<Progress>({ started: 0, shown: 0, nextAt: 0 });
  const { markdown } = useServices();

  useLayoutEffect(() => {
    const element = host.current;
    if (element === null) {
      return undefined;
    }
    const state = progress.current;
    const show = (nodes: DocumentFragment, number: number): void => {
      if (number > state.shown) {
        state.shown = number;
        element.replaceChildren(nodes);
        markdown.typeset(element);
      }
    };
    const kept = markdown.peek(source);
    if (kept !== null) {
      show(kept, ++state.started);
      return undefined;
    }
    const render = async (): Promise<void> => {
      const number = ++state.started;
      const begin = performance.now();
      const nodes = await markdown.render(source, !live);
      show(nodes, number);
      const now = performance.now();
      state.nextAt = now + Math.max(INTERVAL, FACTOR * (now - begin));
    };
    const delay = live ? state.nextAt - performance.now() : 0;
    if (delay <= 0) {
      void render();
      return undefined;
    }
    const timer = setTimeout(() => void render(), delay);
    return () => {
      clearTimeout(timer);
    };
  }, [markdown, source, live]);

  return host;
}
