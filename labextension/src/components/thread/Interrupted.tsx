/** A run that the end of the server cut off. */
import type { ToolPart, Turn } from '../../state/view';
import { useTrans } from '../common/trans';
import { VisibleText } from '../common/VisibleText';
import { subjectOf } from '../tools/describe';
import { Note } from './Note';

/** The call that was running when the run was cut off. */
function cutOffCall(turn: Turn): ToolPart | null {
  const last = turn.parts.findLast(part => part.type === 'tool');
  return last?.status === 'cancelled' || last?.status === 'running' ? last : null;
}

export function Interrupted({ turn }: { turn: Turn }): React.JSX.Element {
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
    </Note>
  );
}
