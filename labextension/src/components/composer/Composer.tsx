/** The message field with its Send button. Holds no text of its own: the draft lives in the chat's store. */
import { useEffect, useId, useRef, useState } from 'react';

import { Button } from '../common/Button';
import { useTrans } from '../common/trans';
import { isSendKey, type SendKey } from './composerKeys';
import { useAutoGrow } from './useAutoGrow';

export interface IComposerProps {
  text: string;
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
}

export function Composer(props: IComposerProps): React.JSX.Element {
  const { text, placeholder, sendKey, blocked, sending, focusRequest, onChange, onSend } = props;
  const trans = useTrans();
  const hintId = useId();
  const area = useAutoGrow(text);
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
  const send = () => {
    if (blocked) {
      setTried(true);
    } else if (prompt !== null && !sending) {
      setTried(false);
      onSend(prompt);
      area.current?.focus();
    }
  };
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
        <Button
          small
          kind="primary"
          icon="arrowUp"
          className="ac-send"
          aria-disabled={blocked !== null || prompt === null || sending}
          title={
            blocked ??
            (sendKey === 'enter' ? trans.__('Send (Enter)') : trans.__('Send (Ctrl+Enter)'))
          }
          onClick={send}
        >
          {trans.__('Send')}
        </Button>
      </div>
    </div>
  );
}
