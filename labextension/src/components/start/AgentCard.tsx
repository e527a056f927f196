/** One agent of the first minute: its state, and the command that comes next. */
import type { Provider } from '../../protocol/generated';
import { IconButton } from '../common/Button';
import { ProviderMark } from '../common/ProviderMark';
import { Spinner } from '../common/Spinner';
import { useTrans } from '../common/trans';
import { Icon } from '../icons';
import { agentState } from './agentState';

export interface IAgentCardProps {
  provider: Provider;
  isDefault: boolean;
  onRecheck: () => void;
  onCopy: (text: string) => void;
  /** Null where JupyterLab has no terminals. */
  onTerminal: (() => void) | null;
}

export function AgentCard(props: IAgentCardProps): React.JSX.Element {
  const { provider, isDefault, onRecheck, onCopy, onTerminal } = props;
  const trans = useTrans();
  const { icon, words, command, recheck } = agentState(provider, trans);
  return (
    <li className="ac-agent" data-provider={provider.id} data-state={provider.state}>
      <div className="ac-agent-head">
        <ProviderMark id={provider.id} name={provider.name} decorative />
        <span className="ac-strong ac-grow">{provider.name}</span>
        {isDefault && <span className="ac-quiet ac-small">{trans.__('Default')}</span>}
        {recheck && (
          <IconButton
            icon="reload"
            label={trans.__('Check %1 again', provider.name)}
            onClick={onRecheck}
          />
        )}
      </div>
      <div className="ac-agent-state ac-quiet ac-small">
        {provider.state === 'probing' ? <Spinner /> : <Icon name={icon} />}
        <span>{words}</span>
      </div>
      {command && (
        <div className="ac-command">
          <code>{command}</code>
          <IconButton icon="copy" label={trans.__('Copy')} onClick={() => onCopy(command)} />
          {onTerminal && (
            <IconButton icon="terminal" label={trans.__('Open terminal')} onClick={onTerminal} />
          )}
        </div>
      )}
    </li>
  );
}
