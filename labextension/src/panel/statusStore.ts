/** The server's status: asked when the session starts, and again whenever the connection came back. */
import type { Status } from '../client/answers';
import type { IReadable, ISession } from '../state/stores';
import { Value } from '../state/value';

/** Null until the first answer; keeps the last one when a later question fails. */
export function createStatus(
  ask: () => Promise<Status>,
  session: Pick<ISession, 'connection'>,
): IReadable<Status | null> {
  const status = new Value<Status | null>(null);
  const load = () => {
    ask().then(
      answer => status.set(answer),
      () => undefined, // the connection line says that the server does not answer
    );
  };
  let open = false;
  session.connection.subscribe(() => {
    const wasOpen = open;
    open = session.connection.getSnapshot().state === 'open';
    if (open && !wasOpen) {
      load();
    }
  });
  return status;
}
