/** An icon inside a component: decoration only, the words stand beside it or on the button. */
import { ICON_PATHS, type IconName } from './paths';

export type { IconName } from './paths';

export interface IIconProps {
  name: IconName;
  /** Fill the shape too; for solid marks such as Stop. */
  solid?: boolean;
  className?: string;
}

/** Draws `name` 16 px large (`ac-icon` in CSS) in the current text colour. */
export function Icon({ name, solid, className }: IIconProps): React.JSX.Element {
  const classes = ['ac-icon', solid ? 'ac-mod-solid' : '', className ?? ''].filter(Boolean);
  return (
    <svg className={classes.join(' ')} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={ICON_PATHS[name]} />
    </svg>
  );
}
