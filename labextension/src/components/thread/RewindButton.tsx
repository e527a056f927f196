/** "Rewind": asks, then goes back to the moment before a message. Says why where that is not possible now. */
import type { UserPart } from '../../state/view';
import { Button, IconButton } from '../common/Button';
import { useTrans } from '../common/trans';
import { useThreadActions } from './actions';

export interface IRewindButtonProps {
  message: UserPart;
  /** With words, where the button stands by itself. */
  words?: string;
}

export function RewindButton({ message, words }: IRewindButtonProps): React.JSX.Element | null {
  const trans = useTrans();
  const actions = useThreadActions();
  if (actions === null) {
    return null;
  }
  const { rewindBlocked } = actions;
  // not `disabled`: the reason must be reachable by keyboard too
  const shared = {
    'aria-disabled': rewindBlocked !== null,
    onClick: () => {
      if (rewindBlocked === null) {
        actions.rewind(message);
      }
    },
  };
  const label = trans.__('Rewind');
  return words === undefined ? (
    <IconButton {...shared} icon="rewind" label={label} title={rewindBlocked ?? label} />
  ) : (
    <Button {...shared} icon="rewind" title={rewindBlocked ?? undefined}>
      {words}
    </Button>
  );
}
