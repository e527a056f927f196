/** What stands where the conversation will be: what works here, what is missing, and the tour. */
import type { ProvidersView } from '../../state/stores';
import { Button } from '../common/Button';
import { failureWords } from '../common/failureWords';
import { Spinner } from '../common/Spinner';
import { useTrans } from '../common/trans';
import { AgentCard } from './AgentCard';

export interface IStartStateProps {
  /** Nothing was ever asked here: show all agents and the tour. */
  first: boolean;
  /** Name of the folder that the chat works in; null for a chat without one. */
  folder: string | null;
  providers: ProvidersView;
  /** The agent that a new chat gets, or the chat has. */
  providerId: string | null;
  /** Null when the tour is not offered by this server. */
  onTour: (() => void) | null;
  onRecheck: () => void;
  onCopy: (text: string) => void;
  onTerminal: (() => void) | null;
}

/** The tour has a card of its own. */
export const TOUR = 'tour';

export function StartState(props: IStartStateProps): React.JSX.Element {
  const { first, folder, providers, providerId, onTour } = props;
  const trans = useTrans();
  const agents = providers.providers.filter(provider => provider.id !== TOUR);
  const shown = first
    ? agents
    : agents.filter(provider => provider.id === providerId && !provider.available);
  const looking =
    providers.state === 'loading' || agents.some(provider => provider.state === 'probing');
  return (
    <div className="ac-start">
      {first && <h3>{trans.__('No chats in this workspace yet')}</h3>}
      <p className="ac-quiet">
        {folder === null
          ? trans.__('This chat works in a folder of its own.')
          : first
            ? trans.__('A chat works in the folder %1.', folder)
            : trans.__('This chat works in the folder %1.', folder)}{' '}
        {trans.__('Nothing runs until you send a message.')}
      </p>
      {first && onTour && (
        <div className="ac-tour">
          <span className="ac-grow">
            <span className="ac-strong">{trans.__('New here?')}</span>
            <br />
            <span className="ac-quiet ac-small">{trans.__('No account needed.')}</span>
          </span>
          <Button small icon="tour" onClick={onTour}>
            {trans.__('Take the tour')}
          </Button>
        </div>
      )}
      {providers.state === 'failed' && (
        <p role="alert">
          {providers.failure && failureWords(providers.failure, trans)}{' '}
          <RecheckButton onClick={props.onRecheck} />
        </p>
      )}
      {shown.length > 0 && (
        <ul className="ac-agents ac-plain" aria-label={trans.__('Agents')} aria-busy={looking}>
          {shown.map(provider => (
            <AgentCard
              key={provider.id}
              provider={provider}
              isDefault={first && provider.available && provider.id === providerId}
              onRecheck={props.onRecheck}
              onCopy={props.onCopy}
              onTerminal={props.onTerminal}
            />
          ))}
        </ul>
      )}
      {first && (
        <p className="ac-start-end ac-quiet ac-small" role="status">
          {looking ? (
            <>
              <Spinner /> {trans.__('Looking for agents…')}
            </>
          ) : (
            <RecheckButton onClick={props.onRecheck} />
          )}
        </p>
      )}
    </div>
  );
}

function RecheckButton({ onClick }: { onClick: () => void }): React.JSX.Element {
  const trans = useTrans();
  return (
    <Button small kind="plain" icon="reload" onClick={onClick}>
      {trans.__('Check again')}
    </Button>
  );
}
