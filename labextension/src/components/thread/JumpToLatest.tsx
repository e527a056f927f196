/** The way back to the end of the thread. */
import { Button } from '../common/Button';
import { useTrans } from '../common/trans';

export function JumpToLatest({
  count,
  onJump,
}: {
  count: number;
  onJump: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  return (
    <Button small icon="arrowDown" className="ac-jump" onClick={onJump}>
      {count === 0 ? trans.__('Jump to latest') : trans.__('Jump to latest (%1 new)', count)}
    </Button>
  );
}
