/** Older turns are rendered before they are put in front, so that the first visible line does not move. */
import { useEffect, useState } from 'react';
import { flushSync } from 'react-dom';

import { BlockSplitter } from '../../markdown/splitter';
import type { Turn } from '../../state/view';
import { useServices } from '../common/services';
import type { IMarkdownRenderer } from '../markdown/renderer';

/** Longest wait for the rendering of older turns, ms; then they are shown as far as they are. */
const DEADLINE = 1_500;

async function renderAhead(turns: readonly Turn[], markdown: IMarkdownRenderer): Promise<void> {
  const sources = turns
    .flatMap(turn => turn.parts)
    .flatMap(part =>
      part.type === 'text'
        ? new BlockSplitter().update(part.text, true).blocks.map(block => block.render)
        : [],
    );
  const work = sources
    .filter(source => markdown.peek(source) === null)
    .map(source => markdown.render(source, true));
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise(done => (timer = setTimeout(done, DEADLINE)));
  await Promise.race([Promise.all(work), late]);
  clearTimeout(timer);
}

type Anchor = { readonly element: Element; readonly top: number };

/** The first turn that can be seen, and how far its top is from the scroller's top. */
function readAnchor(scroller: HTMLElement): Anchor | null {
  const edge = scroller.getBoundingClientRect().top;
  for (const element of scroller.querySelectorAll('[data-ac-turn]')) {
    const { top, bottom } = element.getBoundingClientRect();
    if (bottom > edge) {
      return { element, top: top - edge };
    }
  }
  return null;
}

function keepAnchor(scroller: HTMLElement, anchor: Anchor | null): void {
  if (anchor?.element.isConnected) {
    const edge = scroller.getBoundingClientRect().top;
    scroller.scrollTop += anchor.element.getBoundingClientRect().top - edge - anchor.top;
  }
}

/** The turns to show now, a suffix of `turns`; `origin` is the key of the first one that was ever shown. */
export function useShownTurns(
  turns: readonly Turn[],
  scroller: HTMLElement | null,
): { shown: readonly Turn[]; origin: string | null } {
  const { markdown } = useServices();
  const [origin, setOrigin] = useState<string | null>(null);
  const [first, setFirst] = useState<string | null>(null);
  const at = turns.findIndex(turn => turn.key === first);
  const head = turns[0]?.key ?? null;

  // nothing shown yet, or what was shown is gone (rewound, reloaded): begin anew with all there is
  if (at === -1 && head !== first) {
    setFirst(head);
    setOrigin(head);
  }

  const older = at > 0 ? turns[at - 1] : undefined;
  useEffect(() => {
    if (older === undefined || scroller === null || head === null) {
      return undefined;
    }
    let current = true;
    const show = (): void => {
      if (current) {
        const anchor = readAnchor(scroller);
        flushSync(() => setFirst(head));
        keepAnchor(scroller, anchor);
      }
    };
    void renderAhead(turns.slice(0, at), markdown).then(show);
    return () => {
      current = false;
    };
    // `turns` changes with each delta; what is older than the first shown turn only with `head`
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [head, first, scroller, markdown]);

  return { shown: at > 0 ? turns.slice(at) : turns, origin };
}
