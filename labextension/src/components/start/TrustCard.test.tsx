// @vitest-environment jsdom
/** Nobody trusts a project by accident. */
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { TrustCard } from './TrustCard';

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

function ask() {
  const onDecide = vi.fn();
  const onCancel = vi.fn();
  const question = {
    path: 'thesis',
    digest: 'd',
    loads: [{ agent: 'claude', kind: 'hooks', path: '.claude/settings.json\u202e' }],
    deciding: false,
    failure: null,
  };
  render(
    <TrustCard
      question={question}
      folder="thesis"
      agentName={() => 'Claude Code'}
      onDecide={onDecide}
      onCancel={onCancel}
    />,
  );
  return { onDecide, onCancel };
}

describe('question of trust', () => {
  it('says for each agent what would be loaded, hidden characters shown', () => {
    ask();
    const loads = screen.getByRole('list', { name: 'Would be loaded' });
    expect(loads.textContent).toBe('Claude Codehooks.claude/settings.jsonU+202E');
  });

  it('takes a yes only after half a second, so that a held Enter gives none', () => {
    const { onDecide } = ask();
    const yes = screen.getByRole('button', { name: 'Trust this project' });
    fireEvent.click(yes);
    expect(onDecide).not.toHaveBeenCalled();
    act(() => void vi.advanceTimersByTime(500));
    fireEvent.click(yes);
    expect(onDecide.mock.calls).toEqual([[true]]);
  });

  it('takes a no at once', () => {
    const { onDecide } = ask();
    fireEvent.click(screen.getByRole('button', { name: "Don't trust" }));
    expect(onDecide.mock.calls).toEqual([[false]]);
  });

  it('puts the focus on the question, not on a button, and Escape leaves it open', () => {
    const { onDecide, onCancel } = ask();
    expect(document.activeElement?.textContent).toContain('Do you trust the project thesis?');
    fireEvent.keyDown(screen.getByRole('alertdialog'), { key: 'Escape' });
    expect(onCancel).toHaveBeenCalled();
    expect(onDecide).not.toHaveBeenCalled();
  });
});
