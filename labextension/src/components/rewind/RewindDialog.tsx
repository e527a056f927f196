/** Asks before a rewind: what goes, what happens to the files, what comes back. Everything it says is from a dry run. */
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'react';

import type { RewindRequest, RewindResult } from '../../protocol/generated';
import type { Failure, RewindOutcome } from '../../state/stores';
import type { CutCounts } from '../../state/aftermath';
import type { UserPart } from '../../state/view';
import { Button } from '../common/Button';
import { failureWords } from '../common/failureWords';
import { Spinner } from '../common/Spinner';
import { useTrans } from '../common/trans';
import { VisibleText } from '../common/VisibleText';
import { Icon } from '../icons';
import { FilesChoice } from './FilesChoice';
import { cutWords, methodWords, returnWords } from './rewindWords';

type Files = RewindRequest['files'];

export interface IRewindDialogProps {
  message: UserPart;
  /** What goes. */
  cut: CutCounts;
  /** Nothing of the conversation stays. */
  empty: boolean;
  agentName: string;
  /** A run began meanwhile, or the server is gone; null when rewinding is possible. */
  blocked: string | null;
  onPreview: (seq: number) => Promise<RewindOutcome>;
  onRewind: (seq: number, files: Files, overwrite: readonly string[]) => Promise<RewindOutcome>;
  /** `rewound`: it was done; the focus belongs into the message field then. */
  onClose: (rewound: boolean) => void;
}

export function RewindDialog(props: IRewindDialogProps): React.JSX.Element {
  const { message, cut, empty, agentName, blocked, onPreview, onRewind, onClose } = props;
  const trans = useTrans();
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const confirm = useRef<HTMLButtonElement>(null);
  const [preview, setPreview] = useState<RewindResult | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [files, setFiles] = useState<Files>('restore');
  const [overwrite, setOverwrite] = useState<ReadonlySet<string>>(new Set());
  const [working, setWorking] = useState(false);

  // closed before it leaves the page: only then the focus goes back to where it was
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    // the dialog says what it does, and it can be undone: Enter is enough
    confirm.current?.focus();
    return () => element?.close();
  }, []);
  useEffect(() => {
    let current = true;
    void onPreview(message.seq).then(outcome => {
      if (!current) {
        return;
      }
      if (outcome.ok) {
        setPreview(outcome.result);
      } else {
        setFailure(outcome.failure);
      }
    });
    return () => {
      current = false;
    };
  }, [message.seq, onPreview]);

  const rewind = async () => {
    setWorking(true);
    setFailure(null);
    const outcome = await onRewind(message.seq, files, files === 'keep' ? [] : [...overwrite]);
    if (outcome.ok) {
      // what is behind an open dialog takes no focus
      dialog.current?.close();
      onClose(true);
    } else {
      setWorking(false);
      setFailure(outcome.failure);
    }
  };
  const ready = preview !== null && !working && blocked === null;
  const why = blocked ?? (failure && failureWords(failure, trans));
  return (
    // Escape closes a dialog by itself; the handler keeps keys from the chat behind it
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <dialog
      ref={dialog}
      className="ac-root ac-dialog"
      aria-labelledby={`${id}-title`}
      aria-describedby={`${id}-text`}
      onCancel={event => {
        event.preventDefault();
        onClose(false);
      }}
      onKeyDown={event => event.stopPropagation()}
    >
      <h2 id={`${id}-title`}>{trans.__('Rewind to this prompt?')}</h2>
      <p id={`${id}-text`}>
        {cutWords(cut, trans)} {returnWords(message.attachments.length, trans)}
      </p>
      {preview === null && failure === null ? (
        <p className="ac-dialog-wait" role="status">
          <Spinner /> {trans.__('Looking at the files…')}
        </p>
      ) : null}
      {preview === null ? null : (
        <>
          <FilesChoice
            preview={preview}
            time={message.time}
            files={files}
            overwrite={overwrite}
            onFiles={setFiles}
            onOverwrite={setOverwrite}
          />
          {preview.queue.length === 0 ? null : (
            <p className="ac-dialog-line">
              <Icon name="steps" />
              <span>
                {trans._n(
                  'The queue is cleared: %1 prompt waits in it.',
                  'The queue is cleared: %1 prompts wait in it.',
                  preview.queue.length,
                )}
              </span>
            </p>
          )}
          <p className="ac-dialog-line">
            <Icon name="info" />
            <span>
              {trans.__(
                'What commands did outside these files, such as installing, is not undone.',
              )}
            </span>
          </p>
        </>
      )}
      {why === null ? null : (
        <p className="ac-dialog-line ac-mod-error" role="alert">
          <Icon name="warning" />
          <span>
            <VisibleText text={why} />
          </span>
        </p>
      )}
      <div className="ac-dialog-foot">
        <span className="ac-quiet ac-small ac-grow">
          {preview && methodWords(preview.method, empty, agentName, trans)}
        </span>
        <Button onClick={() => onClose(false)}>{trans.__('Cancel')}</Button>
        <Button
          kind="primary"
          icon="rewind"
          ref={confirm}
          aria-disabled={!ready}
          title={blocked ?? undefined}
          onClick={() => {
            if (ready) {
              void rewind();
            }
          }}
        >
          {working ? trans.__('Rewinding…') : trans.__('Rewind')}
        </Button>
      </div>
    </dialog>
  );
}
