/** Above the composer after a rewind, until the next prompt: what became of it, and the way back. */
import type { DraftContent, RewindView } from '../../state/stores';
import type { RewoundPart } from '../../state/view';
import { Button, IconButton } from '../common/Button';
import { failureWords } from '../common/failureWords';
import { useTrans, type Trans } from '../common/trans';
import { VisibleText } from '../common/VisibleText';
import { Icon } from '../icons';
import { fileCounts } from '../thread/SmallParts';

export interface IRewoundBarProps {
  part: RewoundPart;
  /** Nothing of the conversation stayed. */
  empty: boolean;
  view: RewindView;
  agentName: string;
  onUndo: () => void;
}

export function RewoundBar(props: IRewoundBarProps): React.JSX.Element {
  const trans = useTrans();
  const { part, empty, view, agentName, onUndo } = props;
  const { undoing, failure } = view;
  return (
    <div className="ac-bar" role="group" aria-label={trans.__('Rewind')}>
      <Icon name="rewind" />
      <span className="ac-grow" role="status">
        {[
          trans.__('Rewound.'),
          ...fileCounts(part, trans).map(words => `${words}.`),
          ...queueWords(view, trans),
          doneWords(part.method, empty, agentName, trans),
        ].join(' ')}
        {failure === null ? null : (
          <span className="ac-bad" role="alert">
            <VisibleText text={failureWords(failure, trans)} />
          </span>
        )}
        <Kept view={view} part={part} />
      </span>
      <Button small icon="rewind" aria-disabled={undoing} onClick={onUndo}>
        {undoing ? trans.__('Undoing…') : trans.__('Undo rewind')}
      </Button>
    </div>
  );
}

/** The files that were left as they are, with reasons where this page has been told them. */
function Kept({ view, part }: Pick<IRewoundBarProps, 'view' | 'part'>): React.JSX.Element | null {
  const trans = useTrans();
  const reasons = new Map(view.last?.kept.map(({ path, reason }) => [path, reason]));
  return part.filesKept.length === 0 ? null : (
    <ul className="ac-plain ac-bar-files" aria-label={trans.__('Kept files')}>
      {part.filesKept.map(path => (
        <li key={path}>
          {trans.__('Kept:')}{' '}
          <span className="ac-mono">
            <VisibleText text={path} />
          </span>{' '}
          <VisibleText text={reasons.get(path) ?? ''} />
        </li>
      ))}
    </ul>
  );
}

function queueWords({ last }: RewindView, trans: Trans): string[] {
  const count = last?.queue.length ?? 0;
  return count === 0
    ? []
    : [trans._n('%1 queued prompt removed.', '%1 queued prompts removed.', count)];
}

function doneWords(
  method: RewoundPart['method'],
  empty: boolean,
  agent: string,
  trans: Trans,
): string {
  if (empty) {
    return trans.__('%1 begins anew.', agent);
  }
  return method === 'native'
    ? trans.__('%1 rewound its own conversation.', agent)
    : trans.__('%1 starts again with a transcript.', agent);
}

export interface ISavedDraftBarProps {
  saved: DraftContent;
  onInsert: () => void;
  onDismiss: () => void;
}

/** What stood in the message field before the rewound prompt came back. */
export function SavedDraftBar(props: ISavedDraftBarProps): React.JSX.Element {
  const trans = useTrans();
  const { saved, onInsert, onDismiss } = props;
  return (
    <div className="ac-bar" role="group" aria-label={trans.__('Earlier draft')}>
      <Icon name="edit" />
      <span className="ac-grow ac-ellipsis" title={saved.text}>
        {trans.__('Your earlier draft:')} <VisibleText text={saved.text} />
      </span>
      <Button small onClick={onInsert}>
        {trans.__('Insert')}
      </Button>
      <IconButton icon="close" label={trans.__('Discard the earlier draft')} onClick={onDismiss} />
    </div>
  );
}

export interface IMemoryHintProps {
  /** Null where there is nothing to insert. */
  onInsert: (() => void) | null;
  onDismiss: () => void;
}

/** After a rewind or a recovery: the agent may not remember what the person does. */
export function MemoryHint({ onInsert, onDismiss }: IMemoryHintProps): React.JSX.Element {
  const trans = useTrans();
  return (
    <div className="ac-bar" role="note">
      <Icon name="info" />
      <span className="ac-grow">
        {trans.__('Put essential constraints, decisions and file names into the next prompt.')}
      </span>
      {onInsert === null ? null : (
        <Button small onClick={onInsert}>
          {trans.__('Insert a summary')}
        </Button>
      )}
      <IconButton icon="close" label={trans.__('Dismiss')} onClick={onDismiss} />
    </div>
  );
}
