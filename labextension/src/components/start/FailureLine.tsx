/** Why something was refused, beside the place where it was tried. */
import type { Failure } from '../../state/stores';
import { IconButton } from '../common/Button';
import { useTrans } from '../common/trans';
import { Icon } from '../icons';

export interface IFailureLineProps {
  failure: Failure;
  onDismiss: () => void;
}

export function FailureLine({ failure, onDismiss }: IFailureLineProps): React.JSX.Element {
  const trans = useTrans();
  return (
    <div className="ac-failure" role="alert" data-code={failure.code}>
      <Icon name="warning" />
      <span className="ac-grow">{failure.message}</span>
      <IconButton icon="close" label={trans.__('Dismiss')} onClick={onDismiss} />
    </div>
  );
}
