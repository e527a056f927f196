// @vitest-environment jsdom
/** Writing a message: which keys send, and that nothing typed is ever lost. */
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import { StrictMode, useState } from 'react';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { Composer, type IComposerProps } from './Composer';

afterEach(cleanup);

function Writing(props: Partial<IComposerProps>) {
  const [text, setText] = useState(props.text ?? '');
  return (
    <Composer
      placeholder="Message Claude Code"
      attachments={[]}
      verb="send"
      second={null}
      onRemoveAttachment={() => undefined}
      sendKey="enter"
      blocked={null}
      sending={false}
      focusRequest={0}
      onSend={() => setText('')}
      {...props}
      text={text}
      onChange={setText}
    />
  );
}

function write(props: Partial<IComposerProps> = {}) {
  const onSend = vi.fn();
  render(
    <StrictMode>
      <Writing onSend={onSend} {...props} />
    </StrictMode>,
  );
  const field = screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Message' });
  const type = (text: string) => fireEvent.change(field, { target: { value: text } });
  return { field, type, onSend, button: screen.getByRole('button', { name: 'Send' }) };
}

describe('sending', () => {
  it('sends with Enter and with the button', () => {
    const { field, type, onSend, button } = write();
    type('hello');
    // false: the browser puts no line break into the field
    expect(fireEvent.keyDown(field, { key: 'Enter' })).toBe(false);
    fireEvent.click(button);
    expect(onSend.mock.calls).toEqual([['hello'], ['hello']]);
  });

  it('breaks the line with Shift+Enter and does not let the page see that key', () => {
    const onPage = vi.fn();
    document.body.addEventListener('keydown', onPage);
    const { field, type, onSend } = write();
    type('hello');
    expect(fireEvent.keyDown(field, { key: 'Enter', shiftKey: true })).toBe(true);
    expect(onSend).not.toHaveBeenCalled();
    expect(onPage).not.toHaveBeenCalled();
    document.body.removeEventListener('keydown', onPage);
  });

  it.each([
    ['while a word is being composed', { isComposing: true }],
    ['with the key that ended a composition in Safari', { keyCode: 229 }],
  ])('does not send %s', (_, init) => {
    const { field, type, onSend } = write();
    type('こんに');
    fireEvent.keyDown(field, { key: 'Enter', ...init });
    expect(onSend).not.toHaveBeenCalled();
  });

  it('sends with Ctrl+Enter or Cmd+Enter only, when that is the setting', () => {
    const { field, type, onSend } = write({ sendKey: 'ctrl_enter' });
    type('hello');
    fireEvent.keyDown(field, { key: 'Enter' });
    expect(onSend).not.toHaveBeenCalled();
    fireEvent.keyDown(field, { key: 'Enter', ctrlKey: true });
    fireEvent.keyDown(field, { key: 'Enter', metaKey: true });
    expect(onSend).toHaveBeenCalledTimes(2);
  });

  it('sends nothing when nothing was written', () => {
    const { field, type, onSend, button } = write();
    type('  \n ');
    fireEvent.keyDown(field, { key: 'Enter' });
    fireEvent.click(button);
    expect(onSend).not.toHaveBeenCalled();
    expect(button.getAttribute('aria-disabled')).toBe('true');
  });

  it('sends the first suggestion of an empty chat with one Enter', () => {
    const { field, onSend } = write({ whenEmpty: 'What is in this folder?' });
    fireEvent.keyDown(field, { key: 'Enter' });
    expect(onSend).toHaveBeenCalledWith('What is in this folder?');
  });
});

describe('while the agent is working', () => {
  const blocked = 'Claude Code is still working.';

  it('keeps the text and says why it was not sent', () => {
    const { field, type, onSend, button } = write({ blocked });
    type('and then this');
    expect(screen.getByRole('status').textContent).toBe('');
    fireEvent.keyDown(field, { key: 'Enter' });
    expect(onSend).not.toHaveBeenCalled();
    expect(field.value).toBe('and then this');
    expect(screen.getByRole('status').textContent).toBe(blocked);
    expect(button.getAttribute('aria-disabled')).toBe('true');
    expect(button.title).toBe(blocked);
  });

  it('lets the text be edited', () => {
    const { field, type } = write({ blocked });
    type('first');
    type('second');
    expect(field.value).toBe('second');
  });
});

describe('focus', () => {
  it('goes into the field when asked for, and not by itself', () => {
    const props: IComposerProps = {
      text: '',
      attachments: [],
      verb: 'send',
      second: null,
      placeholder: '',
      sendKey: 'enter',
      blocked: null,
      sending: false,
      focusRequest: 0,
      onChange: vi.fn(),
      onSend: vi.fn(),
      onRemoveAttachment: vi.fn(),
    };
    const { rerender } = render(<Composer {...props} />);
    const field = screen.getByRole('textbox');
    expect(document.activeElement).not.toBe(field);
    rerender(<Composer {...props} focusRequest={1} />);
    expect(document.activeElement).toBe(field);
    act(() => field.blur());
    rerender(<Composer {...props} focusRequest={1} text="x" />);
    expect(document.activeElement).not.toBe(field);
  });
});
