/** The agent's checklist, one line or all of it: above the composer while it is worked on, else in its turn. */
import { useId } from 'react';

import type { PlanEntry } from '../../protocol/generated';
import { useFold } from '../common/services';
import { Spinner } from '../common/Spinner';
import { useTrans } from '../common/trans';
import { VisibleText } from '../common/VisibleText';
import { Icon } from '../icons';

export interface IPlanCardProps {
  entries: readonly PlanEntry[] | null;
  /** The agent is at work: the current entry turns. */
  running: boolean;
}

function EntryMark({
  status,
  running,
}: {
  status: PlanEntry['status'];
  running: boolean;
}): React.JSX.Element {
  switch (status) {
    case 'completed':
      return <Icon name="check" />;
    case 'in_progress':
      return running ? <Spinner /> : <Icon name="play" />;
    case 'pending':
      return <Icon name="square" />;
  }
}

export function PlanCard({ entries, running }: IPlanCardProps): React.JSX.Element | null {
  const done = entries?.every(entry => entry.status === 'completed') ?? true;
  return done || entries === null ? null : (
    <PlanFold entries={entries} running={running} fold="plan" />
  );
}

export interface IPlanFoldProps {
  entries: readonly PlanEntry[];
  running: boolean;
  /** Under which it is remembered whether it is open. */
  fold: string;
  className?: string;
}

/** A checklist as one line that opens. */
export function PlanFold(props: IPlanFoldProps): React.JSX.Element {
  const { entries, running, fold, className } = props;
  const trans = useTrans();
  const [open, setOpen] = useFold(fold, false);
  const id = useId();
  const done = entries.filter(entry => entry.status === 'completed').length;
  const now =
    entries.find(entry => entry.status === 'in_progress') ??
    entries.find(entry => entry.status === 'pending');
  const words: Record<PlanEntry['status'], string> = {
    completed: trans.__('done'),
    in_progress: trans.__('in progress'),
    pending: trans.__('to do'),
  };
  return (
    <div className={`ac-plan ${className ?? ''}`.trim()} role="group" aria-label={trans.__('Plan')}>
      <button
        type="button"
        className="ac-plan-line"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        <Icon name="chevronRight" className="ac-chevron" />
        <Icon name="checklist" />
        <span className="ac-ellipsis">
          <b>{trans.__('Plan')}</b> {trans.__('%1 of %2 done', done, entries.length)}
          {now === undefined || open ? null : (
            <>
              {' · '}
              <VisibleText text={now.text} />
            </>
          )}
        </span>
      </button>
      {open ? (
        <ol className="ac-plain ac-plan-list" id={id}>
          {entries.map((entry, index) => (
            <li key={index} className={`ac-mod-${entry.status}`}>
              <EntryMark status={entry.status} running={running} />
              <span>
                <VisibleText text={entry.text} />
                <span className="ac-sr">, {words[entry.status]}</span>
              </span>
            </li>
          ))}
        </ol>
      ) : null}
    </div>
  );
}
