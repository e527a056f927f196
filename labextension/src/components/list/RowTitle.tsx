/** The title of a row: a button that opens the chat, or a field while it is being renamed. */
import { useEffect, useRef } from 'react';

import { useTrans } from '../common/trans';

export interface IRowTitleProps {
  title: string;
  /** What the row has no room for. */
  hint: string;
  tabbable: boolean;
  current: boolean;
  renaming: boolean;
  onOpen: () => void;
  onKeyDown: (event: React.KeyboardEvent) => void;
  /** The new title, or null when the person changed their mind. */
  onRenamed: (title: string | null) => void;
}

export function RowTitle(props: IRowTitleProps): React.JSX.Element {
  const { title, hint, tabbable, current, renaming, onOpen, onKeyDown, onRenamed } = props;
  if (renaming) {
    return <RenameField title={title} onRenamed={onRenamed} />;
  }
  return (
    <button
      type="button"
      className="ac-row-title ac-ellipsis"
      tabIndex={tabbable ? 0 : -1}
      aria-current={current ? 'true' : undefined}
      aria-keyshortcuts="F2 Delete"
      title={hint}
      onClick={onOpen}
      onKeyDown={onKeyDown}
    >
      {title}
    </button>
  );
}

function RenameField({ title, onRenamed }: Pick<IRowTitleProps, 'title' | 'onRenamed'>) {
  const trans = useTrans();
  const field = useRef<HTMLInputElement>(null);
  const done = useRef(false);
  useEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, []);

  // Enter takes the field away, which blurs it: one answer only
  const finish = (keep: boolean) => {
    if (!done.current) {
      done.current = true;
      // the longest title may have been cut within a character
      const typed = field.current?.value.replace(/[\ud800-\udbff]$/, '').trim() ?? '';
      onRenamed(keep && typed && typed !== title ? typed : null);
    }
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    event.stopPropagation();
    if (event.nativeEvent.isComposing || (event.key !== 'Enter' && event.key !== 'Escape')) {
      return;
    }
    event.preventDefault();
    finish(event.key === 'Enter');
  };
  return (
    <input
      ref={field}
      className="ac-row-rename"
      aria-label={trans.__('Title of the chat')}
      defaultValue={title}
      maxLength={300}
      onKeyDown={onKeyDown}
      onBlur={() => finish(true)}
    />
  );
}
