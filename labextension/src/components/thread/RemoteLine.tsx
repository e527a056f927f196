/** Another server on the same store runs this chat: it can be read here, not more. */
import type { RunView } from '../../state/stores';
import { useTrans } from '../common/trans';
import { VisibleText } from '../common/VisibleText';
import { Icon } from '../icons';

/** `host/identity` of a server, or other words for it: what tells a person something. */
function hostOf(holder: string): string {
  const end = holder.lastIndexOf('/');
  return end > 0 ? holder.slice(0, end) : holder;
}

export function RemoteLine({
  run,
}: {
  run: Pick<RunView, 'remote' | 'holder'>;
}): React.JSX.Element | null {
  const trans = useTrans();
  return run.remote ? (
    <div className="ac-bar" role="status">
      <Icon name="info" />
      <span className="ac-grow">
        <b>{trans.__('Another server runs this chat.')}</b>{' '}
        {run.holder === null ? null : (
          <>
            {trans.__('Its host:')} <VisibleText text={hostOf(run.holder)} />
            {'. '}
          </>
        )}
        {trans.__('You can follow it here; write when it has finished.')}
      </span>
    </div>
  ) : null;
}
