// @vitest-environment jsdom
/** What was deleted can be brought back for a while. */
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { DeletedLines, UNDO_MS } from './DeletedLines';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const chat = (id: string, failure = null) => ({ id, title: `Chat ${id}`, failure });

function show(shown = true) {
  const onUndo = vi.fn();
  const onDismiss = vi.fn();
  render(
    <DeletedLines
      deleted={[chat('a'), chat('b')]}
      shown={shown}
      onUndo={onUndo}
      onDismiss={onDismiss}
    />,
  );
  return { onUndo, onDismiss };
}

const pass = (ms: number): void => {
  act(() => void vi.advanceTimersByTime(ms));
};

describe('deleted chats', () => {
  it('stand one below the other, and are told politely', () => {
    const { onUndo } = show();
    const list = screen.getByRole('list', { name: 'Deleted chats' });
    expect(list.textContent).toContain('Deleted “Chat a”.');
    expect(list.parentElement?.getAttribute('aria-live')).toBe('polite');
    fireEvent.click(screen.getAllByRole('button', { name: 'Undo' })[1]!);
    expect(onUndo).toHaveBeenCalledWith('b');
  });

  it('stay for more than ten seconds', () => {
    const { onDismiss } = show();
    pass(10_000);
    expect(onDismiss).not.toHaveBeenCalled();
    pass(UNDO_MS - 10_000);
    expect(onDismiss.mock.calls).toEqual([['a'], ['b']]);
  });

  it('stay while somebody is about to press Undo, or cannot see them', () => {
    const { onDismiss } = show();
    fireEvent.focus(screen.getAllByRole('button', { name: 'Undo' })[0]!);
    pass(UNDO_MS * 3);
    expect(onDismiss).not.toHaveBeenCalled();
    cleanup();
    const hidden = show(false);
    pass(UNDO_MS * 3);
    expect(hidden.onDismiss).not.toHaveBeenCalled();
  });
});
