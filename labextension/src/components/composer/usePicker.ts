/** State of one picker: closed, or open at a place with the keyboard on an option. */
import { useCallback, useEffect, useRef, useState } from 'react';

import { placeAt, type IPlace } from './Listbox';
import { pickerStep, type IPickerOption } from './pickerKeys';

const TYPING_PAUSE_MS = 500;

interface IOpen {
  active: number;
  place: IPlace;
}

export interface IPickerState {
  open: IOpen | null;
  button: React.RefObject<HTMLButtonElement>;
  toggle: () => void;
  close: () => void;
  moveTo: (index: number) => void;
  choose: (index: number) => void;
  onKeyDown: (event: React.KeyboardEvent) => void;
}

export function usePicker(
  options: readonly IPickerOption[],
  current: number,
  onChange: (value: string) => void,
): IPickerState {
  const [open, setOpen] = useState<IOpen | null>(null);
  const button = useRef<HTMLButtonElement>(null);
  const typing = useRef({ text: '', at: 0 });

  const close = useCallback(() => setOpen(null), []);
  const moveTo = useCallback((active: number) => {
    if (!button.current) {
      return;
    }
    const rect = button.current.getBoundingClientRect();
    const size = { width: window.innerWidth, height: window.innerHeight };
    setOpen(before => ({ active, place: before?.place ?? placeAt(rect, size) }));
  }, []);

  const choose = (index: number) => {
    const option = options[index];
    if (!option || option.disabled) {
      return;
    }
    close();
    if (index !== current) {
      onChange(option.value);
    }
  };

  const type = (key: string): string => {
    const now = Date.now();
    const recent = now - typing.current.at < TYPING_PAUSE_MS ? typing.current.text : '';
    typing.current = { text: recent + key, at: now };
    return typing.current.text;
  };

  const onKeyDown = (event: React.KeyboardEvent) => {
    const typed = event.key.length === 1 && event.key !== ' ' ? type(event.key) : '';
    const step = pickerStep(event, open?.active ?? null, current, options, typed);
    if (!step) {
      return;
    }
    if (step.do === 'choose' && step.leave) {
      choose(step.index);
      close();
      return; // the focus goes on to the next control
    }
    // Escape closes the list only: the panel would take it as Stop
    event.preventDefault();
    event.stopPropagation();
    if (step.do === 'move') {
      moveTo(step.to);
    } else if (step.do === 'choose') {
      choose(step.index);
    } else {
      close();
    }
  };

  const isOpen = open !== null;
  useEffect(() => {
    if (!isOpen) {
      return;
    }
    // a popup that hangs on the window would not follow its button
    window.addEventListener('resize', close);
    return () => window.removeEventListener('resize', close);
  }, [isOpen, close]);

  const toggle = () => (open ? close() : moveTo(Math.max(current, 0)));
  return { open, button, toggle, close, moveTo, choose, onKeyDown };
}
