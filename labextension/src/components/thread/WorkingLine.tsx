/** The line above the composer while an agent works: what, since when, how quiet it is, and Stop. */
import { useEffect, useState } from 'react';

import type { RunView } from '../../state/stores';
import type { Turn } from '../../state/view';
import { Button } from '../common/Button';
import { formatClock, formatDuration } from '../common/format';
import { Spinner } from '../common/Spinner';
import { useTrans } from '../common/trans';
import { useNow } from '../common/useNow';
import { VisibleText } from '../common/VisibleText';
import { currentTool, phaseWords } from './phase';

export interface IWorkingLineProps {
  run: Pick<RunView, 'running' | 'remote' | 'phase' | 'stopping' | 'lastOutputAt' | 'runId'>;
  /** The turn that runs; null until it is known. */
  turn: Turn | null;
  /** Nobody knows what the agent does now: the server does not answer. */
  offline?: boolean;
  /** Stop; a second call forces. */
  onStop: () => void;
}

/** Silence that is worth a word, ms. */
const QUIET = 90_000;
/** Before Stop becomes "Force stop", ms: so long a stop may take without being stuck. */
const PATIENCE = 3_000;

function useStopStage(stopping: RunView['stopping']): 'stop' | 'stopping' | 'force' {
  const [late, setLate] = useState(false);
  useEffect(() => {
    if (stopping !== 'asked') {
      return undefined;
    }
    const timer = setTimeout(() => setLate(true), PATIENCE);
    return () => {
      clearTimeout(timer);
      setLate(false);
    };
  }, [stopping]);
  if (stopping === null) {
    return 'stop';
  }
  return stopping === 'asked' && late ? 'force' : 'stopping';
}

function StopButton({
  stopping,
  onStop,
}: {
  stopping: RunView['stopping'];
  onStop: () => void;
}): React.JSX.Element {
  const trans = useTrans();
  const stage = useStopStage(stopping);
  switch (stage) {
    case 'stop':
      return (
        <Button small icon="stop" shortcut="Escape" onClick={onStop}>
          {trans.__('Stop')}
        </Button>
      );
    case 'stopping':
      return (
        <Button small icon="stop" aria-disabled>
          {trans.__('Stopping…')}
        </Button>
      );
    case 'force':
      return (
        <Button small icon="stop" onClick={onStop}>
          {trans.__('Force stop')}
        </Button>
      );
  }
}

/** Times that change every second; not for the ears of a screen reader. */
function Clock({
  since,
  lastOutputAt,
}: {
  since: number | null;
  lastOutputAt: number | null;
}): React.JSX.Element {
  const trans = useTrans();
  const now = useNow(1000).getTime();
  const quiet = lastOutputAt === null ? 0 : now - lastOutputAt;
  return (
    <>
      {since === null ? null : (
        <span className="ac-working-clock" aria-hidden="true">
          {formatClock(now - since)}
        </span>
      )}
      {quiet < QUIET ? null : (
        <span className="ac-working-quiet" aria-hidden="true">
          {trans.__('No output for %1', formatDuration(quiet))}
        </span>
      )}
    </>
  );
}

export function WorkingLine(props: IWorkingLineProps): React.JSX.Element | null {
  const { run, turn, offline = false, onStop } = props;
  const trans = useTrans();
  if (!run.running) {
    return null;
  }
  const phase = run.stopping === null ? run.phase : 'cancelling';
  const { word, subject } = phaseWords(phase, currentTool(turn), trans);
  const started = Date.parse(turn?.agent?.time ?? turn?.user?.time ?? '');
  return (
    <div className={offline ? 'ac-working ac-mod-offline' : 'ac-working'}>
      <span className="ac-working-phase" role="status">
        {offline ? trans.__('Last seen:') : <Spinner />}
        <span className="ac-ellipsis">
          {word}
          {subject === null ? null : (
            <>
              {' '}
              <span className="ac-mono">
                <VisibleText text={subject} />
              </span>
            </>
          )}
          {run.remote ? ` · ${trans.__('on another server')}` : null}
        </span>
      </span>
      {offline ? null : (
        <Clock
          since={Number.isNaN(started) ? null : started}
          lastOutputAt={phase === 'waiting' ? null : run.lastOutputAt}
        />
      )}
      {run.remote || offline ? null : (
        <StopButton key={run.runId} stopping={run.stopping} onStop={onStop} />
      )}
    </div>
  );
}
