/** A run that the end of the server cut off: what is kept, and how to go on. */
import type { ToolPart, Turn } from '../../state/view';
import { Button } from '../common/Button';
import { useTrans } from '../common/trans';
import { VisibleText } from '../common/VisibleText';
import { subjectOf } from '../tools/describe';
import { Note } from './Note';
import { RewindButton } from './RewindButton';

/** The call that was running when the run was cut off. */
function cutOffCall(turn: Turn): ToolPart | null {
  const last = turn.parts.findLast(part => part.type === 'tool');
  return last?.status === 'cancelled' || last?.status === 'running' ? last : null;
}

export interface IInterruptedProps {
  turn: Turn;
  /** Lets the agent go on; null unless it is the last run and nothing runs. */
  onContinue: (() => void) | null;
}

export function Interrupted({ turn, onContinue }: IInterruptedProps): React.JSX.Element {
  const trans = useTrans();
  const call = cutOffCall(turn);
  return (
    <Note kind="warning" title={trans.__('The run was interrupted when the server restarted.')}>
      <p className="ac-note-text">
        {trans.__('Everything up to here is kept.')}
        {call === null ? null : (
          <>
            {' '}
            {trans.__('What it was running may not have finished:')}{' '}
            <span className="ac-mono">
              <VisibleText text={subjectOf(call.input, call.title, call.name).text} />
            </span>
          </>
        )}
      </p>
      {onContinue === null ? null : (
        <div className="ac-note-actions">
          <Button kind="primary" icon="play" onClick={onContinue}>
            {trans.__('Continue')}
          </Button>
          {turn.user === null ? null : (
            <RewindButton message={turn.user} words={trans.__('Rewind to the prompt')} />
          )}
        </div>
      )}
    </Note>
  );
}
