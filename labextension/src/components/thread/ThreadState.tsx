/** What stands in the thread while there are no turns to show: loading, failed, gone. */
import type { ThreadView } from '../../state/stores';
import { Button } from '../common/Button';
import { failureWords } from '../common/failureWords';
import { Spinner } from '../common/Spinner';
import { useTrans } from '../common/trans';
import { VisibleText } from '../common/VisibleText';
import { Note } from './Note';

export function ThreadState({
  view,
  onReload,
}: {
  view: ThreadView;
  onReload: () => void;
}): React.JSX.Element | null {
  const trans = useTrans();
  switch (view.state) {
    case 'ready':
      return null;
    case 'loading':
      return view.turns.length > 0 ? null : (
        <p className="ac-thread-state">
          <Spinner />
          {trans.__('Loading the conversation…')}
        </p>
      );
    case 'failed':
      return (
        <Note kind="error" title={trans.__('The conversation could not be loaded.')}>
          <p className="ac-note-text">
            <VisibleText text={view.failure ? failureWords(view.failure, trans) : ''} />
          </p>
          <div className="ac-note-actions">
            <Button kind="primary" icon="reload" onClick={onReload}>
              {trans.__('Try again')}
            </Button>
          </div>
        </Note>
      );
    case 'deleted':
      return <Note kind="info" title={trans.__('This chat was deleted.')} />;
  }
}
