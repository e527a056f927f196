/** What a person wrote: text as typed, attachments as chips, actions on hover and focus. */
import { memo } from 'react';

import type { Attachment, Author } from '../../protocol/generated';
import type { UserPart } from '../../state/view';
import { CopyButton } from '../common/CopyButton';
import { formatBytes, formatTime } from '../common/format';
import { useServices } from '../common/services';
import { useTrans } from '../common/trans';
import { VisibleText } from '../common/VisibleText';
import { Icon, type IconName } from '../icons';

const ATTACHMENT_ICONS: Readonly<Record<Attachment['kind'], IconName>> = {
  file: 'file',
  image: 'image',
  directory: 'folder',
  cell: 'notebook',
  selection: 'file',
  variable: 'chip',
  output: 'notebook',
  chat: 'chat',
};

/** An attachment of a sent prompt; opens what it is where that is a file. */
function AttachmentChip({ attachment }: { attachment: Attachment }): React.JSX.Element {
  const { openFile } = useServices();
  const words =
    attachment.size > 0 ? `${attachment.name} · ${formatBytes(attachment.size)}` : attachment.name;
  return (
    <li>
      <button
        type="button"
        className="ac-chip"
        title={attachment.path}
        onClick={() => openFile(attachment.path)}
      >
        <Icon name={ATTACHMENT_ICONS[attachment.kind]} />
        <span className="ac-ellipsis">
          <VisibleText text={words} />
        </span>
      </button>
    </li>
  );
}

export interface IUserMessageProps {
  text: string;
  attachments: readonly Attachment[];
  author: Author | null;
  /** ISO time; null while it is on its way. */
  time: string | null;
  /** It goes on its way once the person has decided something. */
  held?: boolean;
}

/** What a message shows of a part. */
export function messageOf({ text, attachments, author, time }: UserPart): IUserMessageProps {
  return { text, attachments, author, time };
}

export const UserMessage = memo(function UserMessage(props: IUserMessageProps) {
  const { text, attachments, author, time, held = false } = props;
  const trans = useTrans();
  const { names } = useServices();
  // under a Hub several people may write into one chat; then the name is news
  const other =
    author !== null && names.me !== null && author.username !== names.me ? author.name : null;
  return (
    <article className="ac-you" aria-label={other ?? trans.__('You')} aria-busy={time === null}>
      <div className="ac-actions">
        <CopyButton label={trans.__('Copy')} text={() => text} />
      </div>
      {other === null ? null : (
        <div className="ac-you-who">
          <span>{other}</span>
          {time === null ? null : <time dateTime={time}>{formatTime(time)}</time>}
        </div>
      )}
      <div className="ac-you-text" title={time === null ? undefined : formatTime(time)}>
        <VisibleText text={text} />
      </div>
      {attachments.length === 0 ? null : (
        <ul className="ac-plain ac-attachments" aria-label={trans.__('Attachments')}>
          {attachments.map(attachment => (
            <AttachmentChip key={attachment.id} attachment={attachment} />
          ))}
        </ul>
      )}
      {time === null ? (
        <div className="ac-quiet ac-small">
          {held ? trans.__('Not sent yet: waiting for you') : trans.__('Sending…')}
        </div>
      ) : null}
    </article>
  );
});
