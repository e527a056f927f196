/** Above the composer: what was typed on another device while something else was typed here. */
import type { DraftContent } from '../../state/stores';
import { Button } from '../common/Button';
import { useTrans } from '../common/trans';
import { VisibleText } from '../common/VisibleText';
import { Icon } from '../icons';

export interface IOtherDraftBarProps {
  other: DraftContent;
  onUse: () => void;
  onKeep: () => void;
}

export function OtherDraftBar({ other, onUse, onKeep }: IOtherDraftBarProps): React.JSX.Element {
  const trans = useTrans();
  const name = trans.__('Draft from another device');
  return (
    <div className="ac-bar" role="group" aria-label={name}>
      <Icon name="edit" />
      <span className="ac-grow" role="status" title={other.text}>
        <span className="ac-bar-text">
          {trans.__('Draft from another device:')} <VisibleText text={other.text} />
        </span>
      </span>
      <Button small onClick={onUse}>
        {trans.__('Use it')}
      </Button>
      <Button small onClick={onKeep}>
        {trans.__('Keep mine')}
      </Button>
    </div>
  );
}
