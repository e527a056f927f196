/** A framed line or two inside the thread: information, a warning, an error. */
import { Icon, type IconName } from '../icons';

export interface INoteProps {
  kind: 'info' | 'warning' | 'error';
  /** Overrides the icon of the kind. */
  icon?: IconName;
  title: React.ReactNode;
  /** Further text, then actions. */
  children?: React.ReactNode;
  /** `alert` where it is news that must be heard. */
  role?: 'alert' | 'note';
}

const ICONS: Readonly<Record<INoteProps['kind'], IconName>> = {
  info: 'info',
  warning: 'warning',
  error: 'error',
};

export function Note({
  kind,
  icon,
  title,
  children,
  role = 'note',
}: INoteProps): React.JSX.Element {
  return (
    <div className={`ac-note ac-mod-${kind}`} role={role}>
      <Icon name={icon ?? ICONS[kind]} />
      <div className="ac-grow">
        <p className="ac-note-title">{title}</p>
        {children}
      </div>
    </div>
  );
}
