/** Where in a thread somebody reads, in terms that survive another width and a thread that is built anew. */
import type { ReadingPlace } from '../../state/stores';

/** What a line of reading can be hung up on, finer than a turn. */
const BLOCKS = 'p, li, pre, tr, h1, h2, h3, h4, h5, h6, [data-ac-tool], [data-ac-ask]';

function blocksOf(turn: Element): Element[] {
  return [turn, ...turn.querySelectorAll(BLOCKS)];
}

/** The block at the upper edge; null when nothing is laid out. */
export function readPlace(scroller: HTMLElement): ReadingPlace | null {
  const edge = scroller.getBoundingClientRect().top;
  const below = (element: Element) => element.getBoundingClientRect().bottom > edge;
  const turn = [...scroller.querySelectorAll<HTMLElement>('[data-ac-turn]')].find(below);
  const key = turn?.dataset.acTurn;
  if (turn === undefined || key === undefined || scroller.clientHeight === 0) {
    return null;
  }
  const blocks = blocksOf(turn);
  const block = Math.max(
    0,
    blocks.findLastIndex(found => found.getBoundingClientRect().top <= edge),
  );
  const found = blocks[block] ?? turn;
  return { turn: key, block, top: found.getBoundingClientRect().top - edge };
}

/** Scrolls back to it; false when its turn is not there any more. */
export function goToPlace(scroller: HTMLElement, place: ReadingPlace): boolean {
  const turns = [...scroller.querySelectorAll<HTMLElement>('[data-ac-turn]')];
  const turn = turns.find(({ dataset }) => dataset.acTurn === place.turn);
  if (turn === undefined) {
    return false;
  }
  const block = blocksOf(turn)[place.block] ?? turn;
  const edge = scroller.getBoundingClientRect().top;
  scroller.scrollTop += block.getBoundingClientRect().top - edge - place.top;
  return true;
}
