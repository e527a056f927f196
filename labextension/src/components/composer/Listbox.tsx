/** The popup of a picker: drawn on the page itself, since panels clip and contain what is inside them. */
import { useLayoutEffect, useRef } from 'react';
import { createPortal } from 'react-dom';

import { Icon } from '../icons';
import type { IPickerOption } from './pickerKeys';

/** Where the popup hangs, in px of the window; `above` when there is more room over the button. */
export interface IPlace {
  left: number;
  edge: number;
  above: boolean;
  maxHeight: number;
  minWidth: number;
}

const MARGIN = 8;
const WIDEST = 320;

export function placeAt(button: DOMRect, window_: { width: number; height: number }): IPlace {
  const below = window_.height - button.bottom - MARGIN;
  const over = button.top - MARGIN;
  const above = below < 240 && over > below;
  const room = Math.max(0, window_.width - WIDEST - MARGIN);
  return {
    left: Math.max(MARGIN, Math.min(button.left, room)),
    edge: above ? window_.height - button.top : button.bottom,
    above,
    maxHeight: Math.max(96, Math.min(360, above ? over : below)),
    minWidth: button.width,
  };
}

export interface IListboxProps {
  id: string;
  name: string;
  options: readonly IPickerOption[];
  current: number;
  active: number;
  place: IPlace;
  onHover: (index: number) => void;
  onChoose: (index: number) => void;
}

export function Listbox(props: IListboxProps): React.ReactPortal {
  const { id, name, options, current, active, place, onHover, onChoose } = props;
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    list.current?.children[active]?.scrollIntoView({ block: 'nearest' });
  }, [active]);
  return createPortal(
    <div
      className="ac-root ac-popup"
      style={{
        left: place.left,
        minWidth: place.minWidth,
        [place.above ? 'bottom' : 'top']: place.edge,
      }}
    >
      <div
        ref={list}
        id={id}
        role="listbox"
        aria-label={name}
        className="ac-listbox"
        style={{ maxHeight: place.maxHeight }}
      >
        {options.map((option, index) => (
          // the keyboard stays with the combobox: an option takes the pointer only
          // eslint-disable-next-line jsx-a11y/click-events-have-key-events
          <div
            key={option.value}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === current}
            aria-disabled={option.disabled ?? false}
            aria-labelledby={`${id}-${index}-label`}
            aria-describedby={option.note ? `${id}-${index}-note` : undefined}
            className={index === active ? 'ac-option ac-mod-active' : 'ac-option'}
            onPointerMove={() => onHover(index)}
            onPointerDown={event => event.preventDefault()}
            onClick={() => onChoose(index)}
          >
            {index === current ? <Icon name="check" /> : <span className="ac-option-gap" />}
            <span id={`${id}-${index}-label`} className="ac-option-label">
              {option.label}
            </span>
            {option.note && (
              <span id={`${id}-${index}-note`} className="ac-option-note">
                {option.note}
              </span>
            )}
          </div>
        ))}
      </div>
    </div>,
    document.body,
  );
}
