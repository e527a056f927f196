/** What a person wrote: text as typed, attachments as chips, actions on hover and focus. */
import { memo } from 'react';

import type { Attachment, Author } from '../../protocol/generated';
import type { UserPart } from '../../state/view';
import { OpenChip } from '../common/AttachmentChip';
import { CopyButton } from '../common/CopyButton';
import { formatTime } from '../common/format';
import { useServices } from '../common/services';
import { useTrans } from '../common/trans';
import { VisibleText } from '../common/VisibleText';
import { ForkButton } from './ForkButton';
import { RewindButton } from './RewindButton';

export interface IUserMessageProps {
  text: string;
  attachments: readonly Attachment[];
  author: Author | null;
  /** ISO time; null while it is on its way. */
  time: string | null;
  /** It goes on its way once the person has decided something. */
  held?: boolean | undefined;
  /** The stored message that can be gone back to; missing while it is on its way. */
  message?: UserPart;
  /** Where a fork of its turn ends. */
  endSeq?: number | null;
}

/** What a message shows of a part. */
export function messageOf({
  text,
  attachments,
  author,
  time,
}: UserPart): Pick<IUserMessageProps, 'text' | 'attachments' | 'author' | 'time'> {
  return { text, attachments, author, time };
}

export const UserMessage = memo(function UserMessage(props: IUserMessageProps) {
  const { text, attachments, author, time, held = false, message, endSeq = null } = props;
  const trans = useTrans();
  const { names } = useServices();
  // under a Hub several people may write into one chat; then the name is news
  const other =
    author !== null && names.me !== null && author.username !== names.me ? author.name : null;
  return (
    <article
      className="ac-you"
      data-ac-part={message?.key}
      aria-label={other ?? trans.__('You')}
      aria-busy={time === null}
    >
      <div className="ac-actions">
        {message === undefined ? null : (
          <>
            <RewindButton message={message} />
            <ForkButton afterSeq={endSeq} />
          </>
        )}
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
            <li key={attachment.id}>
              <OpenChip attachment={attachment} />
            </li>
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
