/** How many lines a change adds and removes. */
import { useTrans } from '../common/trans';

/** "+12 −3" */
export function LineCounts({ added, removed }: { added: number; removed: number }): React.JSX.Element {
  const trans = useTrans();
  return (
    <span>
      <span className="ac-plus">+{added}</span> <span className="ac-minus">−{removed}</span>
      <span className="ac-sr"> {trans.__('lines')}</span>
    </span>
  );
}
