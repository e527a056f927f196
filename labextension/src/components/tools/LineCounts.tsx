/** How many lines a change adds and removes. */
import { useTrans } from '../common/trans';

/** "+12 −3"; what is nothing is left out. */
export function LineCounts({
  added,
  removed,
}: {
  added: number;
  removed: number;
}): React.JSX.Element {
  const trans = useTrans();
  return (
    <span>
      {added > 0 || removed === 0 ? <span className="ac-plus">+{added}</span> : null}
      {added > 0 && removed > 0 ? ' ' : null}
      {removed > 0 ? <span className="ac-minus">−{removed}</span> : null}
      <span className="ac-sr"> {trans.__('lines')}</span>
    </span>
  );
}
