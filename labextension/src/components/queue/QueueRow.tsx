/** One prompt that waits: its text, who wrote it, why it is held, and what can be done with it. */
import { useId } from 'react';

import type { QueueItem } from '../../protocol/generated';
import { DraftChip } from '../common/AttachmentChip';
import { IconButton } from '../common/Button';
import { useServices } from '../common/services';
import { useTrans } from '../common/trans';
import { VisibleText } from '../common/VisibleText';
import { Icon } from '../icons';

export type RowVerb = 'edit' | 'up' | 'down' | 'remove';

export interface IQueueRowProps {
  item: QueueItem;
  /** From 1. */
  place: number;
  last: boolean;
  /** Null where the queue can only be read. */
  onVerb: ((verb: RowVerb) => void) | null;
}

export function QueueRow({ item, place, last, onVerb }: IQueueRowProps): React.JSX.Element {
  const trans = useTrans();
  const id = useId();
  const { names } = useServices();
  const { author, held_reason } = item;
  const other = names.me !== null && author.username !== names.me ? author.name : null;
  const verb = (name: RowVerb, possible = true) => ({
    'aria-describedby': id,
    // not `disabled`: the focus stays on the button when its item reaches an end of the list
    'aria-disabled': !possible,
    'data-ac-verb': name,
    onClick: () => {
      if (possible) {
        onVerb?.(name);
      }
    },
  });
  return (
    <>
      <span className="ac-queue-place" aria-hidden="true">
        {place}
      </span>
      <span className="ac-queue-what">
        <span className="ac-queue-text" id={id} title={item.text}>
          {other === null ? null : (
            <>
              <b>{other}</b>{' '}
            </>
          )}
          <VisibleText text={item.text} />
        </span>
        {item.attachments.map(attachment => (
          <DraftChip key={attachment.id} attachment={attachment} onRemove={null} />
        ))}
        {held_reason === null ? null : (
          <span className="ac-queue-held">
            <Icon name="warning" />
            <span>
              {trans.__('Held:')} <VisibleText text={held_reason} />
            </span>
          </span>
        )}
      </span>
      {onVerb === null ? null : (
        <span className="ac-queue-actions">
          <IconButton icon="edit" label={trans.__('Edit')} {...verb('edit')} />
          <IconButton icon="chevronUp" label={trans.__('Move up')} {...verb('up', place > 1)} />
          <IconButton icon="chevronDown" label={trans.__('Move down')} {...verb('down', !last)} />
          <IconButton icon="close" label={trans.__('Remove')} {...verb('remove')} />
        </span>
      )}
    </>
  );
}
