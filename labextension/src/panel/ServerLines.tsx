/** What is wrong between here and the server, or with its store: said once, quietly. */
import { ConnectionLine } from '../components/start/ConnectionLine';
import { usePanel } from './context';
import { storeNotice } from './policies';
import { useReadable } from './readable';

export function ServerLines(): React.JSX.Element {
  const { session, status, host } = usePanel();
  const connection = useReadable(session.connection);
  const notice = storeNotice(useReadable(status));
  return (
    <>
      <ConnectionLine connection={connection} onReloadPage={host.reloadPage} />
      {notice && (
        <p className="ac-readonly ac-small" role="status">
          {notice}
        </p>
      )}
    </>
  );
}
