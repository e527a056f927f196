/** The composer of a chat that exists: its draft, its run and its settings. */
import { useTrans } from '../components/common/trans';
import { deliveryChoice, type Delivery } from '../components/composer/delivery';
import { OtherDraftBar } from '../components/composer/OtherDraftBar';
import type { ChatSettings } from '../components/composer/settings';
import { TrustCard } from '../components/start/TrustCard';
import type { Chat } from '../protocol/generated';
import type { IChatStore } from '../state/stores';
import type { Value } from '../state/value';
import { agentBlocked, runBlocked, trustBlocked } from './blocked';
import { ComposerBox } from './ComposerBox';
import { usePanel } from './context';
import { folderName } from './policies';
import { useReadable } from './readable';
import { useSuggestions } from './useSuggestions';

export interface IChatComposerProps {
  store: IChatStore;
  chat: Chat | null;
  /** Nothing was said yet. */
  empty: boolean;
  focusRequests: Value<number>;
}

const UNKNOWN: ChatSettings = {
  provider: null,
  model: null,
  effort: null,
  mode: 'code',
  permission: 'ask',
  effective_permission: 'ask',
};

export function ChatComposer(props: IChatComposerProps): React.JSX.Element {
  const { store, chat, empty, focusRequests } = props;
  const { session, status } = usePanel();
  const trans = useTrans();
  const focusRequest = useReadable(focusRequests);
  const draft = useReadable(store.draft);
  const other = useReadable(store.draftSync.offer);
  const run = useReadable(store.run);
  const providers = useReadable(session.providers);
  const server = useReadable(status);
  const online = useReadable(session.connection).state === 'open';
  const provider = providers.providers.find(known => known.id === chat?.provider);
  const suggestions = useSuggestions(
    empty && !draft.sending && draft.trust === null,
    chat?.project ?? null,
    chat?.provider ?? null,
  );
  const agentName = (id: string) => providers.providers.find(known => known.id === id)?.name ?? id;
  const agent = provider?.name ?? trans.__('The agent');
  const blocked =
    // while the server does not answer, nobody knows whether the agent still works
    (online ? runBlocked(run, agent, trans) : null) ??
    trustBlocked(draft.trust, trans) ??
    (chat ? agentBlocked(providers, provider, trans) : trans.__('Still loading this chat.'));
  const choice = deliveryChoice(run, trans);
  const send = (delivery: Delivery) => (text: string) => void store.send(text, { delivery });
  // the card goes, and with it the focus: back to where the person was writing
  const decide = (trusted: boolean) => {
    void store.decideTrust(trusted).then(() => {
      if (store.draft.getSnapshot().trust === null) {
        focusRequests.set(focusRequests.getSnapshot() + 1);
      }
    });
  };
  return (
    <>
      {draft.trust && (
        <TrustCard
          question={draft.trust}
          folder={folderName(draft.trust.path, server) ?? draft.trust.path}
          agentName={agentName}
          onDecide={decide}
          onCancel={() => {
            store.cancelTrust();
            focusRequests.set(focusRequest + 1);
          }}
        />
      )}
      {other && (
        <OtherDraftBar
          other={other}
          onUse={() => {
            store.draftSync.useOther();
            focusRequests.set(focusRequest + 1);
          }}
          onKeep={() => {
            store.draftSync.keepMine();
            focusRequests.set(focusRequest + 1);
          }}
        />
      )}
      <ComposerBox
        text={draft.text}
        attachments={draft.attachments}
        verb={choice.verb}
        second={choice.second && { ...choice.second, onUse: send(choice.second.delivery) }}
        placeholder={
          choice.verb === 'queue' ? trans.__('Queue next prompt while the agent is working') : null
        }
        settings={chat ?? UNKNOWN}
        suggestions={suggestions}
        failure={draft.refusal}
        blocked={blocked}
        // the next one can be sent while others are on their way
        sending={false}
        focusRequest={focusRequest}
        onText={text => store.setDraft(text)}
        onSend={send(choice.delivery)}
        onSettings={change => store.patch(change)}
        onDismiss={() => store.dismissRefusal()}
        onRemoveAttachment={id => store.removeAttachment(id)}
      />
    </>
  );
}
