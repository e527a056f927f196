/** A select-only combobox: shows its value, opens a list with the whole keyboard. */
import { useId } from 'react';

import { Icon, type IconName } from '../icons';
import { Listbox } from './Listbox';
import type { IPickerOption } from './pickerKeys';
import { usePicker } from './usePicker';

export type { IPickerOption } from './pickerKeys';

export interface IPickerProps {
  /** Accessible name, for example "Model". */
  name: string;
  /** The chosen option; a value that is no option is shown by `placeholder`. */
  value: string | null;
  placeholder: string;
  options: readonly IPickerOption[];
  icon?: IconName;
  disabled?: boolean;
  onChange: (value: string) => void;
}

export function Picker(props: IPickerProps): React.JSX.Element {
  const { name, value, placeholder, options, icon, disabled, onChange } = props;
  const id = useId();
  const current = options.findIndex(option => option.value === value);
  const { open, button, toggle, close, moveTo, choose, onKeyDown } = usePicker(
    options,
    current,
    onChange,
  );
  const label = options[current]?.label ?? placeholder;
  return (
    <>
      <button
        ref={button}
        type="button"
        role="combobox"
        className="ac-picker"
        aria-label={name}
        aria-haspopup="listbox"
        aria-expanded={open !== null}
        aria-controls={open ? id : undefined}
        aria-activedescendant={open ? `${id}-${open.active}` : undefined}
        title={`${name}: ${label}`}
        disabled={disabled}
        onClick={toggle}
        onBlur={close}
        onKeyDown={onKeyDown}
      >
        {icon && <Icon name={icon} className="ac-picker-icon" />}
        <span className="ac-ellipsis">{label}</span>
        <Icon name="chevronDown" className="ac-picker-arrow" />
      </button>
      {open && (
        <Listbox
          id={id}
          name={name}
          options={options}
          current={current}
          active={open.active}
          place={open.place}
          onHover={moveTo}
          onChoose={choose}
        />
      )}
    </>
  );
}
