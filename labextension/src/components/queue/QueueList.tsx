/** The prompts that wait, above the composer, in the order in which they will be sent. */
import { useId, useRef } from 'react';

import type { QueueItem, Sync } from '../../protocol/generated';
import type { IQueueActions, PendingPrompt } from '../../state/stores';
import { Button } from '../common/Button';
import { useFold } from '../common/services';
import { useTrans } from '../common/trans';
import { VisibleText } from '../common/VisibleText';
import { Icon } from '../icons';
import { FailureLine } from '../start/FailureLine';
import { pauseWords } from './queueWords';
import { QueueEditor } from './QueueEditor';
import { QueueRow } from './QueueRow';
import { useQueueVerbs } from './useQueueVerbs';

export interface IQueueListProps {
  items: readonly QueueItem[];
  /** Prompts on their way into the queue. */
  pending: readonly PendingPrompt[];
  paused: boolean;
  pauseReason: Sync['queue_pause_reason'];
  /** It cannot be changed here: another server has it, or nobody answers. */
  readOnly: boolean;
  actions: IQueueActions;
  /** Takes over a text whose item was sent or removed while it was edited. */
  onRescue: (text: string) => void;
  /** The last item is gone, and with it the focus. */
  onEmptied: () => void;
}

export function QueueList(props: IQueueListProps): React.JSX.Element | null {
  const { items, pending, paused, pauseReason, readOnly, actions, onRescue } = props;
  const trans = useTrans();
  const id = useId();
  const [open, setOpen] = useFold('queue', true);
  const list = useRef<HTMLOListElement>(null);
  const verbs = useQueueVerbs(items, actions, list, props.onEmptied);
  const { editing, said, failure } = verbs;
  const count = items.length + pending.length;
  const orphaned = editing !== null && !items.some(item => item.id === editing.id);
  if (count === 0 && !orphaned && failure === null) {
    return null;
  }
  return (
    <div className="ac-queue">
      <div className="ac-queue-head">
        <button
          type="button"
          className="ac-queue-line"
          aria-expanded={open}
          aria-controls={open ? id : undefined}
          onClick={() => setOpen(!open)}
        >
          <Icon name="chevronRight" className="ac-chevron" />
          <Icon name="steps" />
          <span className="ac-ellipsis">
            <b>{trans.__('Queued prompts')}</b>{' '}
            {count > 1 ? trans.__('%1, sent in this order', count) : count}
          </span>
        </button>
        {readOnly || count === 0 ? null : (
          <Button
            small
            kind={paused ? 'primary' : undefined}
            icon={paused ? 'play' : 'pause'}
            className={paused ? '' : 'ac-queue-pause'}
            aria-label={paused ? trans.__('Resume') : trans.__('Pause queue')}
            title={
              paused
                ? trans.__('Resume: send what waits, in this order')
                : trans.__('Pause queue: nothing is sent until you resume')
            }
            onClick={() => verbs.setPaused(!paused)}
          >
            {paused ? trans.__('Resume') : trans.__('Pause queue')}
          </Button>
        )}
      </div>
      {paused && count > 0 ? (
        <p className="ac-queue-paused">
          <Icon name="pause" />
          <span>{pauseWords(pauseReason, trans)}</span>
        </p>
      ) : null}
      <span className="ac-sr" role="status">
        {said}
      </span>
      {failure === null ? null : <FailureLine failure={failure} onDismiss={verbs.dismiss} />}
      {orphaned ? (
        <Orphan
          text={editing.text}
          onDismiss={verbs.cancel}
          onRescue={() => {
            onRescue(editing.text);
            verbs.cancel();
          }}
        />
      ) : null}
      {open ? (
        <ol className="ac-plain" id={id} ref={list} aria-label={trans.__('Queued prompts')}>
          {items.map((item, index) => (
            <li key={item.id} className="ac-queue-item" data-ac-item={item.id}>
              {editing?.id === item.id ? (
                <>
                  <span className="ac-queue-place" aria-hidden="true">
                    {index + 1}
                  </span>
                  <QueueEditor
                    text={item.text}
                    onSave={verbs.save}
                    onCancel={verbs.cancel}
                    onType={verbs.type}
                  />
                </>
              ) : (
                <QueueRow
                  item={item}
                  place={index + 1}
                  last={index === items.length - 1}
                  onVerb={readOnly ? null : verb => verbs.verb(item, verb)}
                />
              )}
            </li>
          ))}
          {pending.map(({ clientId, text, held }) => (
            <li key={clientId} className="ac-queue-item ac-quiet" aria-busy="true">
              <span className="ac-queue-place" aria-hidden="true" />
              <span className="ac-queue-what">
                <span className="ac-queue-text">
                  <VisibleText text={text} />
                </span>
                <span className="ac-small">
                  {held ? trans.__('Not sent yet: waiting for you') : trans.__('Sending…')}
                </span>
              </span>
            </li>
          ))}
        </ol>
      ) : null}
    </div>
  );
}

interface IOrphanProps {
  text: string;
  onRescue: () => void;
  onDismiss: () => void;
}

/** The item under edit is gone; what was typed is not. */
function Orphan({ text, onRescue, onDismiss }: IOrphanProps): React.JSX.Element {
  const trans = useTrans();
  return (
    <div className="ac-queue-orphan" role="alert">
      <p>{trans.__('This prompt was sent or removed while you edited it. Your text:')}</p>
      <p className="ac-queue-text">
        <VisibleText text={text} />
      </p>
      <div className="ac-queue-verbs">
        <Button small kind="primary" onClick={onRescue}>
          {trans.__('Put it into the message field')}
        </Button>
        <Button small onClick={onDismiss}>
          {trans.__('Discard')}
        </Button>
      </div>
    </div>
  );
}
