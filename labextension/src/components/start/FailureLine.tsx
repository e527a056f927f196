/** Why something was refused, beside the place where it was tried. */
import type { Failure } from '../../state/stores';
import { IconButton } from '../common/Button';
import { failureWords } from '../common/failureWords';
import { useTrans } from '../common/trans';
import { Icon } from '../icons';

export interface IFailureLineProps {
  failure: Failure;
  /** What was typed is still in the message field. */
  kept?: boolean;
  onDismiss: () => void;
}

export function FailureLine({ failure, kept, onDismiss }: IFailureLineProps): React.JSX.Element {
  const trans = useTrans();
  return (
    <div className="ac-failure" role="alert" data-code={failure.code}>
      <Icon name="warning" />
      <span className="ac-grow">{failureWords(failure, trans, kept)}</span>
      <IconButton icon="close" label={trans.__('Dismiss')} onClick={onDismiss} />
    </div>
  );
}
