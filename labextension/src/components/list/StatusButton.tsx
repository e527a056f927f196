/** "1 running, 1 needs you" in JupyterLab's status bar. */
import type { Activity } from '../../state/status';
import { Spinner } from '../common/Spinner';
import { useTrans } from '../common/trans';
import { Icon } from '../icons';
import { needsWords, runningWords, statusWords } from './words';

export interface IStatusButtonProps {
  activity: Activity;
  onOpen: () => void;
}

export function StatusButton({ activity, onOpen }: IStatusButtonProps): React.JSX.Element {
  const trans = useTrans();
  const { running, needsYou } = activity;
  const title =
    needsYou > 0
      ? trans.__('Open the chat that needs you')
      : trans.__('Open the chat that is running');
  return (
    <button
      type="button"
      className="ac-root ac-status"
      aria-label={trans.__('Agent chats: %1', statusWords(activity, trans))}
      title={title}
      onClick={onOpen}
    >
      {running > 0 ? <Spinner /> : <Icon name="chat" />}
      <span aria-hidden="true">
        {running > 0 && runningWords(running, trans)}
        {running > 0 && needsYou > 0 && ', '}
        {needsYou > 0 && <b>{needsWords(needsYou, trans)}</b>}
      </span>
    </button>
  );
}
