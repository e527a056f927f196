/** The message field with its verbs. Holds no text of its own: the draft lives in the chat's store. */
import { useEffect, useId, useRef, useState } from 'react';

import type { Attachment } from '../../protocol/generated';
import { DraftChip } from '../common/AttachmentChip';
import { Button } from '../common/Button';
import { useTrans, type Trans } from '../common/trans';
import type { IconName } from '../icons';
import { isSendKey, type SendKey } from './composerKeys';
import { useAutoGrow } from './useAutoGrow';

/** `queue`: the prompt waits until those before it are done. */
export type Verb = 'send' | 'queue';

/** A second button beside the main one. */
export interface ISecondVerb {
  label: string;
  icon: IconName;
  title: string;
  onUse: (text: string) => void;
}

export interface IComposerProps {
  text: string;
  attachments: readonly Attachment[];
  verb: Verb;
  second: ISecondVerb | null;
  /** "Message Claude Code" */
  placeholder: string;
  sendKey: SendKey;
  /** Why nothing can be sent now, for people; null when it can. The text stays and can be edited. */
  blocked: string | null;
  /** The prompt is on its way. */
  sending: boolean;
  /** Each new number takes the focus into the field; 0 leaves it where it is. */
  focusRequest: number;
  /** Sent instead of nothing: the first suggestion of an empty chat. */
  whenEmpty?: string | undefined;
  onChange: (text: string) => void;
  onSend: (text: string) => void;
  onRemoveAttachment: (id: string) => void;
}

function verbWords(verb: Verb, sendKey: SendKey, trans: Trans): { label: string; title: string } {
  const byEnter = sendKey === 'enter';
  return verb === 'queue'
    ? {
        label: trans.__('Queue prompt'),
        title: byEnter ? trans.__('Queue prompt (Enter)') : trans.__('Queue prompt (Ctrl+Enter)'),
      }
    : {
        label: trans.__('Send'),
        title: byEnter ? trans.__('Send (Enter)') : trans.__('Send (Ctrl+Enter)'),
      };
}

export function Composer(props: IComposerProps): React.JSX.Element {
  const { text, attachments, placeholder, verb, second, sendKey, blocked, sending } = props;
  const { focusRequest, onChange } = props;
  const trans = useTrans();
  const hintId = useId();
  const area = useAutoGrow(text, placeholder);
  // shown once somebody has tried: a reason that nobody asked for is noise
  const [tried, setTried] = useState(false);
  const hint = tried ? blocked : null;
  const focused = useRef(0);

  useEffect(() => {
    if (focusRequest !== focused.current) {
      focused.current = focusRequest;
      area.current?.focus();
    }
  }, [area, focusRequest]);

  const prompt = text.trim() === '' ? (props.whenEmpty ?? null) : text;
  const attempt = (act: (text: string) => void) => {
    if (blocked) {
      setTried(true);
    } else if (prompt !== null && !sending) {
      setTried(false);
      act(prompt);
      area.current?.focus();
    }
  };
  const send = () => attempt(props.onSend);
  const off = blocked !== null || prompt === null || sending;
  const words = verbWords(verb, sendKey, trans);
  const onKeyDown = (event: React.KeyboardEvent) => {
    // keyCode is the only sign that Safari gives of a key that ended a composition
    // eslint-disable-next-line @typescript-eslint/no-deprecated
    const { isComposing, keyCode } = event.nativeEvent;
    const { key, shiftKey, ctrlKey, metaKey, altKey } = event;
    if (key === 'Enter') {
      // what Enter means here is decided here, not by a shortcut of the page
      event.stopPropagation();
    }
    if (isSendKey({ key, keyCode, shiftKey, ctrlKey, metaKey, altKey, isComposing }, sendKey)) {
      event.preventDefault();
      send();
    }
  };
  return (
    <div className="ac-composer">
      {attachments.length === 0 ? null : (
        <ul className="ac-plain ac-composer-chips" aria-label={trans.__('Attachments')}>
          {attachments.map(attachment => (
            <li key={attachment.id}>
              <DraftChip
                attachment={attachment}
                onRemove={() => props.onRemoveAttachment(attachment.id)}
              />
            </li>
          ))}
        </ul>
      )}
      <textarea
        ref={area}
        className="ac-composer-text"
        rows={1}
        value={text}
        placeholder={placeholder}
        aria-label={trans.__('Message')}
        aria-describedby={hint ? hintId : undefined}
        onChange={event => onChange(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <div className="ac-composer-bar">
        <span id={hintId} className="ac-composer-hint ac-quiet ac-small ac-grow" role="status">
          {hint}
        </span>
        {second === null ? null : (
          <Button
            small
            icon={second.icon}
            className="ac-second"
            aria-label={second.label}
            aria-disabled={off}
            title={blocked ?? second.title}
            onClick={() => attempt(second.onUse)}
          >
            {second.label}
          </Button>
        )}
        <Button
          small
          kind="primary"
          icon={verb === 'queue' ? 'checklist' : 'arrowUp'}
          className="ac-send"
          aria-label={words.label}
          aria-disabled={off}
          title={blocked ?? words.title}
          onClick={send}
        >
          {words.label}
        </Button>
      </div>
    </div>
  );
}
