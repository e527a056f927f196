/** A queued prompt while it is edited: Enter saves, Escape leaves it as it was. */
import { useEffect, useState } from 'react';

import { Button } from '../common/Button';
import { useTrans } from '../common/trans';
import { isSendKey } from '../composer/composerKeys';
import { useAutoGrow } from '../composer/useAutoGrow';

export interface IQueueEditorProps {
  text: string;
  onSave: (text: string) => void;
  onCancel: () => void;
  /** The text as far as it was typed, so that it outlives the item. */
  onType: (text: string) => void;
}

export function QueueEditor(props: IQueueEditorProps): React.JSX.Element {
  const trans = useTrans();
  const [text, setText] = useState(props.text);
  const area = useAutoGrow(text);
  useEffect(() => {
    const field = area.current;
    field?.focus();
    field?.setSelectionRange(field.value.length, field.value.length);
  }, [area]);
  const empty = text.trim() === '';
  const save = () => {
    if (!empty) {
      props.onSave(text);
    }
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    // keyCode is the only sign that Safari gives of a key that ended a composition
    // eslint-disable-next-line @typescript-eslint/no-deprecated
    const { isComposing, keyCode } = event.nativeEvent;
    const { key, shiftKey, ctrlKey, metaKey, altKey } = event;
    if (key === 'Enter') {
      event.stopPropagation();
    }
    if (isSendKey({ key, keyCode, shiftKey, ctrlKey, metaKey, altKey, isComposing }, 'enter')) {
      event.preventDefault();
      save();
    } else if (key === 'Escape' && !isComposing) {
      // it leaves this field; it does not stop the agent
      event.preventDefault();
      event.stopPropagation();
      props.onCancel();
    }
  };
  return (
    <div className="ac-queue-editor">
      <textarea
        ref={area}
        rows={1}
        className="ac-queue-field"
        aria-label={trans.__('Queued prompt')}
        value={text}
        onChange={event => {
          setText(event.currentTarget.value);
          props.onType(event.currentTarget.value);
        }}
        onKeyDown={onKeyDown}
      />
      <div className="ac-queue-verbs">
        <Button small kind="primary" aria-disabled={empty} onClick={save}>
          {trans.__('Save')}
        </Button>
        <Button small onClick={props.onCancel}>
          {trans.__('Cancel')}
        </Button>
      </div>
    </div>
  );
}
