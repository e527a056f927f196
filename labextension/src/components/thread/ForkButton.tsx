/** "Fork from here": a new chat that begins with all up to the end of this turn. */
import { IconButton } from '../common/Button';
import { useTrans } from '../common/trans';
import { useThreadActions } from './actions';

export function ForkButton({ afterSeq }: { afterSeq: number | null }): React.JSX.Element | null {
  const trans = useTrans();
  const actions = useThreadActions();
  return actions === null ? null : (
    <IconButton
      icon="fork"
      label={trans.__('Fork from here')}
      onClick={() => actions.fork(afterSeq)}
    />
  );
}
