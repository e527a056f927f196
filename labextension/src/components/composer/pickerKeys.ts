/**
 * The keyboard of a select-only combobox, as the ARIA Authoring Practices describe it; pure.
 *
 * Options that cannot be chosen can still be reached, so that everybody hears why.
 */

export interface IPickerOption {
  value: string;
  label: string;
  /** One line below the label: what choosing it means, or why it cannot be chosen. */
  note?: string;
  disabled?: boolean;
}

/** `null` while closed, else the index of the option that the keyboard is on. */
export type Active = number | null;

export type PickerStep =
  { do: 'move'; to: number } | { do: 'choose'; index: number; leave: boolean } | { do: 'close' };

export interface IKeyPress {
  key: string;
  altKey: boolean;
  ctrlKey: boolean;
  metaKey: boolean;
}

const PAGE = 10;

function isPrintable({ key, altKey, ctrlKey, metaKey }: IKeyPress): boolean {
  return key.length === 1 && key !== ' ' && !altKey && !ctrlKey && !metaKey;
}

/** The next option from `from` whose label starts with what was typed; the same letter again goes on. */
export function findTyped(options: readonly IPickerOption[], typed: string, from: number): number {
  const repeated = typed === typed.charAt(0).repeat(typed.length);
  const prefix = (repeated ? typed.slice(0, 1) : typed).toLocaleLowerCase();
  const first = repeated ? from + 1 : from;
  for (let step = 0; step < options.length; step++) {
    const index = (first + step) % options.length;
    if (options[index]?.label.toLocaleLowerCase().startsWith(prefix)) {
      return index;
    }
  }
  return from;
}

/**
 * What a key does; `null` leaves it to the browser.
 *
 * `typed` is what was typed within half a second, this key included; `current` the chosen option, or -1.
 */
export function pickerStep(
  press: IKeyPress,
  active: Active,
  current: number,
  options: readonly IPickerOption[],
  typed: string,
): PickerStep | null {
  const last = options.length - 1;
  if (isPrintable(press)) {
    return { do: 'move', to: findTyped(options, typed, active ?? Math.max(current, 0)) };
  }
  if (active === null) {
    switch (press.key) {
      case 'ArrowDown':
      case 'ArrowUp':
      case 'Enter':
      case ' ':
        return { do: 'move', to: Math.max(current, 0) };
      case 'Home':
        return { do: 'move', to: 0 };
      case 'End':
        return { do: 'move', to: last };
      default:
        return null;
    }
  }
  switch (press.key) {
    case 'ArrowDown':
      return { do: 'move', to: Math.min(active + 1, last) };
    case 'ArrowUp':
      return press.altKey
        ? { do: 'choose', index: active, leave: false }
        : { do: 'move', to: Math.max(active - 1, 0) };
    case 'PageDown':
      return { do: 'move', to: Math.min(active + PAGE, last) };
    case 'PageUp':
      return { do: 'move', to: Math.max(active - PAGE, 0) };
    case 'Home':
      return { do: 'move', to: 0 };
    case 'End':
      return { do: 'move', to: last };
    case 'Enter':
    case ' ':
      return { do: 'choose', index: active, leave: false };
    case 'Tab':
      return { do: 'choose', index: active, leave: true };
    case 'Escape':
      return { do: 'close' };
    default:
      return null;
  }
}
