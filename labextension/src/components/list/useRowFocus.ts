/** Arrow keys move between rows and hits alike; Tab enters and leaves the list in one step. */
import { useEffect, useRef, useState } from 'react';

/** Rows and hits, in the order in which they stand. */
const ITEM = '.ac-row-title, .ac-found';

function target(key: string, from: number, last: number): number | null {
  switch (key) {
    case 'ArrowDown':
      return Math.min(from + 1, last);
    case 'ArrowUp':
      return from - 1;
    case 'Home':
      return 0;
    case 'End':
      return last;
    default:
      return null;
  }
}

function keyOf(element: Element): string | null {
  const item = element.closest<HTMLElement>('[data-chat-id], [data-hit]');
  return item?.dataset.chatId ?? item?.dataset.hit ?? null;
}

/** The place where the focus was when its row went away; index -1: in a row, but not on its title. */
type Lost = { key: string; index: number };

export interface IRowFocus {
  list: React.RefObject<HTMLDivElement>;
  /** The chat, or the hit, that has or had the focus; null before anybody chose one. */
  focused: string | null;
  /** Takes the focus to the first row or hit. */
  enter: () => void;
  onFocus: (event: React.FocusEvent) => void;
  onKeyDown: (event: React.KeyboardEvent) => void;
}

/**
 * Each new `focusRequest` takes the focus to the row that Tab would go to; 0 leaves it where it is. `leave` is called
 * when the person goes up from the first one.
 */
export function useRowFocus(focusRequest: number, leave: () => void): IRowFocus {
  const list = useRef<HTMLDivElement>(null);
  const [focused, setFocused] = useState<string | null>(null);
  const answered = useRef(0);
  const last = useRef<Lost | null>(null);
  const items = () => [...(list.current?.querySelectorAll<HTMLElement>(ITEM) ?? [])];
  useEffect(() => {
    if (focusRequest !== answered.current) {
      answered.current = focusRequest;
      const writing = document.activeElement?.closest('.ac-search') != null;
      if (!writing) {
        list.current?.querySelector<HTMLElement>(`:is(${ITEM})[tabindex="0"]`)?.focus();
      }
    }
  }, [focusRequest]);
  // a row that goes away takes the focus with it: to the one that stands there now
  useEffect(() => {
    const lost = last.current;
    const nowhere = document.activeElement === null || document.activeElement === document.body;
    if (lost !== null && nowhere) {
      const now = items();
      const own = now.find(item => keyOf(item) === lost.key);
      if (own === undefined && lost.index >= 0) {
        last.current = null;
        now[Math.min(lost.index, now.length - 1)]?.focus();
      } else if (own !== undefined && lost.index < 0) {
        // its new name was written there
        own.focus();
      }
    }
  });
  const onFocus = (event: React.FocusEvent) => {
    const key = keyOf(event.target);
    const index = items().findIndex(item => item === event.target);
    last.current = key !== null ? { key, index } : null;
    if (key !== null) {
      setFocused(key);
    }
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    const all = items();
    const from = all.findIndex(item => item === event.target);
    const to = from < 0 ? null : target(event.key, from, all.length - 1);
    if (to === null) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    if (to < 0) {
      leave();
    } else {
      all[to]?.focus();
    }
  };
  return { list, focused, enter: () => items()[0]?.focus(), onFocus, onKeyDown };
}
