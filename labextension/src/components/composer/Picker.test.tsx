// @vitest-environment jsdom
/** The pickers work with the keyboard alone, as any select-only combobox does. */
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { StrictMode, useState } from 'react';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';

import { Picker, type IPickerOption } from './Picker';

const OPTIONS: IPickerOption[] = [
  { value: 'claude', label: 'Claude Code', note: 'Signed in' },
  { value: 'codex', label: 'Codex', note: 'Not signed in', disabled: true },
  { value: 'opencode', label: 'opencode' },
  { value: 'tour', label: 'Tour' },
];

beforeAll(() => {
  // jsdom lays nothing out
  Element.prototype.scrollIntoView = vi.fn();
});
afterEach(cleanup);

function pick() {
  const onChange = vi.fn();
  const onPage = vi.fn();
  function Choosing() {
    const [value, setValue] = useState('claude');
    return (
      // eslint-disable-next-line jsx-a11y/no-static-element-interactions
      <div onKeyDown={onPage}>
        <Picker
          name="Agent"
          value={value}
          placeholder="Choose an agent"
          options={OPTIONS}
          onChange={next => {
            onChange(next);
            setValue(next);
          }}
        />
      </div>
    );
  }
  render(
    <StrictMode>
      <Choosing />
    </StrictMode>,
  );
  const box = screen.getByRole('combobox', { name: 'Agent' });
  const press = (key: string, init = {}) => fireEvent.keyDown(box, { key, ...init });
  const active = () => {
    const id = box.getAttribute('aria-activedescendant');
    return id && document.getElementById(id)?.textContent;
  };
  return { box, press, active, onChange, onPage };
}

function isOpen(): boolean {
  return screen.queryByRole('listbox') !== null;
}

describe('picker', () => {
  it('shows its value and opens at it', () => {
    const { box, press, active } = pick();
    expect(box.textContent).toBe('Claude Code');
    press('ArrowDown');
    expect(box.getAttribute('aria-expanded')).toBe('true');
    expect(box.getAttribute('aria-controls')).toBe(screen.getByRole('listbox').id);
    expect(active()).toContain('Claude Code');
    expect(screen.getByRole('option', { selected: true }).textContent).toContain('Claude Code');
  });

  it('chooses with arrows and Enter', () => {
    const { box, press, onChange } = pick();
    for (const key of ['Enter', 'ArrowDown', 'ArrowDown', 'Enter']) {
      press(key);
    }
    expect(onChange.mock.calls).toEqual([['opencode']]);
    expect(box.textContent).toBe('opencode');
    expect(isOpen()).toBe(false);
  });

  it('jumps to the ends and to what is typed', () => {
    const { press, active } = pick();
    press('End');
    expect(active()).toContain('Tour');
    press('Home');
    expect(active()).toContain('Claude Code');
    press('o');
    expect(active()).toContain('opencode');
    press('Escape');
    press('t');
    expect(isOpen()).toBe(true);
  });

  it('lets one hear why an agent is not available, and does not choose it', () => {
    const { press, active, onChange } = pick();
    press('ArrowDown');
    press('ArrowDown');
    expect(active()).toContain('Not signed in');
    press('Enter');
    fireEvent.click(screen.getByRole('option', { name: 'Codex' }));
    expect(onChange).not.toHaveBeenCalled();
    expect(isOpen()).toBe(true);
  });

  it('closes with Escape without changing anything, and the panel does not take that for Stop', () => {
    const { press, onChange, onPage } = pick();
    press('ArrowDown');
    press('ArrowDown');
    onPage.mockClear();
    press('Escape');
    expect(isOpen()).toBe(false);
    expect(onChange).not.toHaveBeenCalled();
    expect(onPage).not.toHaveBeenCalled();
    press('Escape');
    expect(onPage).toHaveBeenCalledTimes(1);
  });

  it('takes the option and lets the focus go on with Tab', () => {
    const { press, onChange } = pick();
    press('End');
    expect(press('Tab')).toBe(true);
    expect(onChange).toHaveBeenCalledWith('tour');
    expect(isOpen()).toBe(false);
  });

  it('works with the pointer, and closes when the focus leaves', () => {
    const { box, onChange } = pick();
    fireEvent.click(box);
    fireEvent.click(screen.getByRole('option', { name: 'Tour' }));
    expect(onChange).toHaveBeenCalledWith('tour');
    fireEvent.click(box);
    fireEvent.blur(box);
    expect(isOpen()).toBe(false);
  });
});
