/** Buttons: with words, with an icon only, or reading like a link. */
import { forwardRef } from 'react';

import { Icon, type IconName } from '../icons';

type NativeButton = React.ComponentPropsWithoutRef<'button'>;

export interface IButtonProps extends NativeButton {
  /** Leading icon. */
  icon?: IconName | undefined;
  kind?: 'primary' | 'plain' | 'default' | undefined;
  small?: boolean | undefined;
  /** A key that does the same while the focus is near; drawn, and told to assistive technology. */
  shortcut?: string | undefined;
}

/** A button whose children are its words. */
export const Button = forwardRef<HTMLButtonElement, IButtonProps>(function Button(props, ref) {
  const { icon, kind, small, shortcut, children, className, ...rest } = props;
  const classes = ['ac-button', className ?? '', small ? 'ac-mod-small' : ''];
  if (kind === 'primary' || kind === 'plain') {
    classes.push(`ac-mod-${kind}`);
  }
  return (
    <button
      type="button"
      {...rest}
      ref={ref}
      className={classes.filter(Boolean).join(' ')}
      aria-keyshortcuts={shortcut}
    >
      {icon ? <Icon name={icon} solid={icon === 'stop'} /> : null}
      <span className="ac-ellipsis">{children}</span>
      {shortcut ? (
        <kbd className="ac-key" aria-hidden="true">
          {shortcut === 'Escape' ? 'Esc' : shortcut}
        </kbd>
      ) : null}
    </button>
  );
});

export interface IIconButtonProps extends NativeButton {
  icon: IconName;
  /** The button's name, shown as its tooltip too. */
  label: string;
}

/** A square button with an icon; `label` is its name. */
export const IconButton = forwardRef<HTMLButtonElement, IIconButtonProps>(
  function IconButton(props, ref) {
    const { icon, label, className, ...rest } = props;
    return (
      <button
        type="button"
        title={label}
        {...rest}
        ref={ref}
        aria-label={label}
        className={`ac-icon-button ${className ?? ''}`.trim()}
      >
        <Icon name={icon} />
      </button>
    );
  },
);

/** A button that reads like a link: it acts, or goes somewhere inside JupyterLab. */
export const LinkButton = forwardRef<HTMLButtonElement, NativeButton>(
  function LinkButton(props, ref) {
    const { className, ...rest } = props;
    return (
      <button type="button" {...rest} ref={ref} className={`ac-link ${className ?? ''}`.trim()} />
    );
  },
);
