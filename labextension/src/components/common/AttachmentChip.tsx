/** Attachments as chips: one that opens what it is, and one that can be taken away again. */
import type { Attachment } from '../../protocol/generated';
import { Icon, type IconName } from '../icons';
import { formatBytes } from './format';
import { useServices } from './services';
import { useTrans } from './trans';
import { VisibleText } from './VisibleText';

const ICONS: Readonly<Record<Attachment['kind'], IconName>> = {
  file: 'file',
  image: 'image',
  directory: 'folder',
  cell: 'notebook',
  selection: 'file',
  variable: 'chip',
  output: 'notebook',
  chat: 'chat',
};

function Inside({ attachment }: { attachment: Attachment }): React.JSX.Element {
  const { name, size, kind } = attachment;
  return (
    <>
      <Icon name={ICONS[kind]} />
      <span className="ac-ellipsis">
        <VisibleText text={size > 0 ? `${name} · ${formatBytes(size)}` : name} />
      </span>
    </>
  );
}

/** Of a sent prompt; opens what it is where that is a file. */
export function OpenChip({ attachment }: { attachment: Attachment }): React.JSX.Element {
  const { openFile } = useServices();
  return (
    <button
      type="button"
      className="ac-chip"
      title={attachment.path}
      onClick={() => openFile(attachment.path)}
    >
      <Inside attachment={attachment} />
    </button>
  );
}

export interface IDraftChipProps {
  attachment: Attachment;
  /** Null where it cannot be taken away. */
  onRemove: (() => void) | null;
}

/** Of a prompt that was not sent yet. */
export function DraftChip({ attachment, onRemove }: IDraftChipProps): React.JSX.Element {
  const trans = useTrans();
  const label = trans.__('Remove %1', attachment.name);
  return (
    <span className="ac-chip" title={attachment.path}>
      <Inside attachment={attachment} />
      {onRemove === null ? null : (
        <button
          type="button"
          className="ac-chip-remove"
          aria-label={label}
          title={label}
          onClick={onRemove}
        >
          <Icon name="close" />
        </button>
      )}
    </span>
  );
}
