/** Arrow keys move between the rows; Tab enters and leaves the list in one step. */
import { useEffect, useRef, useState } from 'react';

const ROW = '.ac-row-title';

function target(key: string, from: number, last: number): number | null {
  switch (key) {
    case 'ArrowDown':
      return Math.min(from + 1, last);
    case 'ArrowUp':
      return Math.max(from - 1, 0);
    case 'Home':
      return 0;
    case 'End':
      return last;
    default:
      return null;
  }
}

export interface IRowFocus {
  list: React.RefObject<HTMLUListElement>;
  /** The chat whose row takes the focus, null before anybody chose one. */
  focused: string | null;
  onFocus: (event: React.FocusEvent) => void;
  onKeyDown: (event: React.KeyboardEvent) => void;
}

/** Each new `focusRequest` takes the focus to the row that Tab would go to; 0 leaves it where it is. */
export function useRowFocus(focusRequest: number): IRowFocus {
  const list = useRef<HTMLUListElement>(null);
  const [focused, setFocused] = useState<string | null>(null);
  const answered = useRef(0);
  useEffect(() => {
    if (focusRequest !== answered.current) {
      answered.current = focusRequest;
      list.current?.querySelector<HTMLElement>(`${ROW}[tabindex="0"]`)?.focus();
    }
  }, [focusRequest]);
  const onFocus = (event: React.FocusEvent) => {
    const row = event.target.closest<HTMLElement>('[data-chat-id]');
    if (row) {
      setFocused(row.dataset.chatId ?? null);
    }
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    const rows = [...(list.current?.querySelectorAll<HTMLElement>(ROW) ?? [])];
    const from = rows.findIndex(row => row === event.target);
    const to = from < 0 ? null : target(event.key, from, rows.length - 1);
    if (to !== null) {
      event.preventDefault();
      event.stopPropagation();
      rows[to]?.focus();
    }
  };
  return { list, focused, onFocus, onKeyDown };
}
