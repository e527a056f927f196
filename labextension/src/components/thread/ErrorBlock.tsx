/** Why a run failed, what to do about it, and the details for whoever wants them. */
import { useId } from 'react';

import type { ErrorPart } from '../../state/view';
import { Button, IconButton } from '../common/Button';
import { CopyButton } from '../common/CopyButton';
import { useFold, useServices } from '../common/services';
import { useTrans, type Trans } from '../common/trans';
import { VisibleText } from '../common/VisibleText';
import { Icon } from '../icons';
import { AnsiText } from '../tools/AnsiText';
import { Note } from './Note';

/** The first command in backticks in `hint`, and the hint without it where it is all there is to say. */
export function commandIn(hint: string): string | null {
  return /`([^`\n]+)`/.exec(hint)?.[1]?.trim() ?? null;
}

function detailLines(part: ErrorPart, trans: Trans): string[] {
  const { exit_code, signal, http_status, stderr_tail, ...rest } = part.detail;
  const lines: string[] = [];
  if (typeof exit_code === 'number') {
    lines.push(trans.__('exit code %1', exit_code));
  }
  if (typeof signal === 'string' || typeof signal === 'number') {
    lines.push(trans.__('signal %1', signal));
  }
  if (typeof http_status === 'number') {
    lines.push(trans.__('HTTP status %1', http_status));
  }
  for (const [name, value] of Object.entries(rest)) {
    if (value !== null && value !== '') {
      lines.push(`${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
    }
  }
  const tail = Array.isArray(stderr_tail) ? stderr_tail.join('\n') : stderr_tail;
  return typeof tail === 'string' && tail.trim() !== '' ? [...lines, tail.trim()] : lines;
}

/** A command to run in a terminal, exactly as it is, with a button to copy it. */
export function CommandLine({ command }: { command: string }): React.JSX.Element {
  const trans = useTrans();
  const { openTerminal } = useServices();
  return (
    <div className="ac-command">
      <code>
        <VisibleText text={command} />
      </code>
      <CopyButton label={trans.__('Copy command')} text={() => command} />
      {openTerminal === null ? null : (
        <IconButton icon="terminal" label={trans.__('Open terminal')} onClick={openTerminal} />
      )}
    </div>
  );
}

function Hint({ text }: { text: string }): React.JSX.Element {
  return (
    <p className="ac-note-text">
      {text.split(/`([^`\n]+)`/).map((piece, index) =>
        index % 2 === 1 ? (
          <code key={index} className="ac-mono">
            <VisibleText text={piece} />
          </code>
        ) : (
          <VisibleText key={index} text={piece} />
        ),
      )}
    </p>
  );
}

export interface IErrorBlockProps {
  part: ErrorPart;
  /** Sends the prompt again; null where that makes no sense, such as in an older turn. */
  onRetry: (() => void) | null;
}

export function ErrorBlock({ part, onRetry }: IErrorBlockProps): React.JSX.Element {
  const trans = useTrans();
  const [open, setOpen] = useFold(`error:${part.key}`, false);
  const id = useId();
  const lines = detailLines(part, trans);
  const command = part.hint === null ? null : commandIn(part.hint);
  return (
    <Note kind="error" title={<VisibleText text={part.message} />}>
      {part.hint === null ? null : <Hint text={part.hint} />}
      {command === null ? null : <CommandLine command={command} />}
      {onRetry === null && lines.length === 0 ? null : (
        <div className="ac-note-actions">
          {onRetry === null ? null : (
            <Button kind="primary" icon="reload" onClick={onRetry}>
              {trans.__('Retry')}
            </Button>
          )}
          {lines.length === 0 ? null : (
            <button
              type="button"
              className="ac-link ac-disclosure"
              aria-expanded={open}
              aria-controls={open ? id : undefined}
              onClick={() => setOpen(!open)}
            >
              <Icon name="chevronRight" className="ac-chevron" />
              {trans.__('Details')}
            </button>
          )}
        </div>
      )}
      {open ? (
        <pre className="ac-note-details" id={id}>
          <AnsiText text={lines.join('\n')} />
        </pre>
      ) : null}
    </Note>
  );
}
