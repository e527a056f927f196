/** Suggestions, refusals, message field and settings: the same below a chat and before there is one. */
import { useState } from 'react';

import { useTrans } from '../components/common/trans';
import { Composer, type ISecondVerb, type Verb } from '../components/composer/Composer';
import {
  raisesToFull,
  type ChatSettings,
  type SettingsChange,
} from '../components/composer/settings';
import { SettingsBar } from '../components/composer/SettingsBar';
import { FailureLine } from '../components/start/FailureLine';
import { Suggestions } from '../components/start/Suggestions';
import type { Attachment } from '../protocol/generated';
import type { Failure } from '../state/stores';
import { usePanel } from './context';
import { limitsOf } from './policies';
import { useReadable } from './readable';

export interface IComposerBoxProps {
  text: string;
  attachments?: readonly Attachment[];
  verb?: Verb;
  second?: ISecondVerb | null;
  /** Instead of "Message Claude Code". */
  placeholder?: string | null;
  settings: ChatSettings;
  suggestions: readonly string[];
  failure: Failure | null;
  /** Why nothing can be sent now; null when it can. */
  blocked: string | null;
  sending: boolean;
  focusRequest: number;
  onText: (text: string) => void;
  onSend: (text: string) => void;
  /** Answers why the change was refused; null when it was made. */
  onSettings: (change: SettingsChange) => Promise<Failure | null>;
  onDismiss: () => void;
  onRemoveAttachment?: (id: string) => void;
}

const NONE: readonly Attachment[] = [];

export function ComposerBox(props: IComposerBoxProps): React.JSX.Element {
  const { text, settings, suggestions, blocked, sending, onSend, onSettings } = props;
  const { session, status, preferences, host } = usePanel();
  const trans = useTrans();
  const { providers } = useReadable(session.providers);
  const { sendKey } = useReadable(preferences);
  const limits = limitsOf(useReadable(status));
  const [refused, setRefused] = useState<Failure | null>(null);

  const agent = providers.find(provider => provider.id === settings.provider)?.name;
  const change = async (wanted: SettingsChange) => {
    setRefused(null);
    const ask = raisesToFull(settings, wanted);
    if (!ask || (await host.confirmFullAccess(agent ?? trans.__('The agent')))) {
      setRefused(await onSettings(wanted));
    }
  };
  // an empty field and a key away from the first answer
  const first = text.trim() === '' ? suggestions[0] : undefined;
  const failure = refused ?? props.failure;
  const dismiss = () => {
    setRefused(null);
    props.onDismiss();
  };
  return (
    <>
      {suggestions.length > 0 && (
        <Suggestions
          texts={suggestions}
          enterTakesFirst={first !== undefined && sendKey === 'enter' && blocked === null}
          disabled={blocked !== null || sending}
          onChoose={onSend}
        />
      )}
      {failure && <FailureLine failure={failure} kept={refused === null} onDismiss={dismiss} />}
      <Composer
        text={text}
        attachments={props.attachments ?? NONE}
        verb={props.verb ?? 'send'}
        second={props.second ?? null}
        placeholder={
          props.placeholder ?? (agent ? trans.__('Message %1', agent) : trans.__('Message'))
        }
        sendKey={sendKey}
        blocked={blocked}
        sending={sending}
        focusRequest={props.focusRequest}
        whenEmpty={first}
        onChange={props.onText}
        onSend={onSend}
        onRemoveAttachment={id => props.onRemoveAttachment?.(id)}
      />
      <SettingsBar
        settings={settings}
        providers={providers}
        limits={limits}
        onChange={wanted => void change(wanted)}
      />
    </>
  );
}
