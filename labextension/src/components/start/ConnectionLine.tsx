/** One quiet line while the page and the server are apart; nothing while they are together. */
import type { ConnectionView } from '../../state/stores';
import { Button } from '../common/Button';
import { useTrans } from '../common/trans';

export interface IConnectionLineProps {
  connection: ConnectionView;
  onReloadPage: () => void;
}

export function ConnectionLine(props: IConnectionLineProps): React.JSX.Element {
  const { connection, onReloadPage } = props;
  const trans = useTrans();
  const { state, everOpen } = connection;
  const offline = state === 'waiting' || (state === 'connecting' && everOpen);
  return (
    <div className="ac-connection" role="status">
      {offline && (
        <p className="ac-quiet ac-small">
          {everOpen
            ? trans.__('Offline, reconnecting…')
            : trans.__('The server does not answer yet, trying again…')}
        </p>
      )}
      {state === 'outdated' && (
        <p className="ac-small">
          {trans.__('The server was updated. Reload the page to go on.')}{' '}
          <Button small onClick={onReloadPage}>
            {trans.__('Reload')}
          </Button>
        </p>
      )}
    </div>
  );
}
