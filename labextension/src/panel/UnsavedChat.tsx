/** The first minute: agents, tour, suggestions and a composer; the first message makes the chat. */
import { useState } from 'react';

import { useTrans } from '../components/common/trans';
import { changed, type ChatSettings } from '../components/composer/settings';
import { StartState, TOUR } from '../components/start/StartState';
import type { Provider } from '../protocol/generated';
import type { Failure } from '../state/stores';
import { agentBlocked } from './blocked';
import { ComposerBox } from './ComposerBox';
import { usePanel } from './context';
import { failureOf } from '../state/failure';
import type { NewDraft } from './newDraft';
import { folderName } from './policies';
import { useReadable } from './readable';
import { useSuggestions } from './useSuggestions';

export interface IUnsavedChatProps {
  draft: NewDraft;
  focusRequest: number;
}

/** Chats start in the folder of the server. */
const PROJECT = '';

const START: Omit<ChatSettings, 'provider'> = {
  model: null,
  effort: null,
  mode: 'code',
  permission: 'ask',
  effective_permission: 'ask',
};

/** The administrator's choice, else a real agent before the tour, which has its own button. */
function defaultAgent(providers: readonly Provider[], preferred: unknown): string | null {
  const ready = providers.filter(provider => provider.available);
  const chosen = ready.find(provider => provider.id === preferred);
  return (chosen ?? ready.find(provider => provider.id !== TOUR) ?? ready[0])?.id ?? null;
}

export function UnsavedChat({ draft, focusRequest }: IUnsavedChatProps): React.JSX.Element {
  const { session, status, navigation, host } = usePanel();
  const trans = useTrans();
  const text = useReadable(draft);
  const providers = useReadable(session.providers);
  const server = useReadable(status);
  const folder = folderName(PROJECT, server);
  const [chosen, setChosen] = useState<ChatSettings | null>(null);
  const [sending, setSending] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);

  const settings = chosen ?? {
    ...START,
    provider: defaultAgent(providers.providers, server?.policies.default_provider),
  };
  const provider = providers.providers.find(known => known.id === settings.provider);
  const suggestions = useSuggestions(true, PROJECT, settings.provider);
  const tour = providers.providers.some(known => known.id === TOUR && known.available);

  const send = async (prompt: string) => {
    setSending(true);
    setFailure(null);
    const { provider: agent, model, effort, mode, permission } = settings;
    const wanted = { provider: agent, model, effort, mode, permission };
    try {
      await navigation.begin({ project: PROJECT, ...wanted }, prompt);
      draft.set('');
    } catch (error) {
      setFailure(failureOf(error));
    } finally {
      setSending(false);
    }
  };
  return (
    <section
      className="jp-AgentChat"
      aria-label={trans.__('New chat')}
      data-chat-id=""
      data-running={sending}
      data-phase={sending ? 'starting' : 'idle'}
    >
      <StartState
        first
        folder={folder}
        providers={providers}
        providerId={settings.provider}
        onTour={tour ? navigation.takeTour : null}
        onRecheck={() => void session.providers.refresh()}
        onCopy={host.copyText}
        onTerminal={host.openTerminal && (() => host.openTerminal?.(PROJECT))}
      />
      <div className="ac-foot">
        <div className="ac-foot-in">
          <ComposerBox
            text={text}
            settings={settings}
            suggestions={suggestions}
            failure={failure}
            blocked={agentBlocked(providers, provider, trans)}
            sending={sending}
            focusRequest={focusRequest}
            onText={typed => draft.set(typed)}
            onSend={prompt => void send(prompt)}
            onSettings={change => {
              setChosen(changed(settings, change));
              return Promise.resolve(null);
            }}
            onDismiss={() => setFailure(null)}
          />
        </div>
      </div>
    </section>
  );
}
