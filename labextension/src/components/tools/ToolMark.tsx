/** What a person or the agent did with a call that needed a yes, and how the call ended: words with icons. */
import type { AskPart, AskResolution, ToolPart } from '../../state/view';
import { formatDuration } from '../common/format';
import { useServices } from '../common/services';
import { Spinner } from '../common/Spinner';
import { useTrans, type Trans } from '../common/trans';
import { Icon } from '../icons';
import { hasFailed } from './output';

function scopeOf(ask: AskPart, resolution: AskResolution): string {
  return ask.options.find(option => option.id === resolution.optionId)?.scope ?? 'once';
}

function allowedWords(ask: AskPart, by: string | null, scope: string, trans: Trans): string {
  if (by === null) {
    return trans.__('allowed by a rule');
  }
  switch (scope) {
    case 'chat':
      return trans.__('allowed by %1 for this chat', by);
    case 'project':
      return trans.__('allowed by %1 for this project', by);
    case 'notebook':
      return trans.__('allowed by %1 for this notebook', by);
    default:
      return ask.kind === 'plan' ? trans.__('approved by %1', by) : trans.__('allowed by %1', by);
  }
}

/** "allowed by you for this chat", "denied by Mara", "answered by you": who settled `ask`, and how. */
export function resolutionWords(
  ask: AskPart,
  resolution: AskResolution,
  me: string | null,
  trans: Trans,
): string {
  const { by, decision } = resolution;
  const who = by === null ? null : by.username === me ? trans.__('you') : by.name;
  switch (decision) {
    case 'allow':
      return allowedWords(ask, who, scopeOf(ask, resolution), trans);
    case 'deny':
      return who === null ? trans.__('denied') : trans.__('denied by %1', who);
    case 'answered':
      return who === null ? trans.__('answered') : trans.__('answered by %1', who);
    case 'withdrawn':
      return trans.__('withdrawn by the agent');
    case 'expired':
      return trans.__('not answered');
  }
}

/** "Waiting for you", or who answered; nothing when nobody was asked. */
export function AskMark({
  ask,
  waiting,
}: {
  ask: AskPart | null;
  waiting: boolean;
}): React.JSX.Element | null {
  const trans = useTrans();
  const { names } = useServices();
  if (waiting) {
    return <span className="ac-badge ac-mod-ask">{trans.__('Waiting for you')}</span>;
  }
  if (ask?.resolution == null) {
    return null;
  }
  return (
    <span className="ac-tool-by">{resolutionWords(ask, ask.resolution, names.me, trans)}</span>
  );
}

function FailedMark({ tool }: { tool: ToolPart }): React.JSX.Element {
  const trans = useTrans();
  const words =
    tool.exitCode !== null && tool.exitCode !== 0
      ? trans.__('exit %1', tool.exitCode)
      : trans.__('Failed');
  return (
    <span className="ac-bad">
      <Icon name="error" />
      {words}
    </span>
  );
}

/** How a call ended. Success is silent: an exit code and the time, no colour. `live`: its turn is still running. */
export function StatusMark({
  tool,
  live,
}: {
  tool: ToolPart;
  live: boolean;
}): React.JSX.Element | null {
  const trans = useTrans();
  const time = tool.durationMs === null ? null : <span>{formatDuration(tool.durationMs)}</span>;
  if (hasFailed(tool)) {
    return (
      <>
        <FailedMark tool={tool} />
        {time}
      </>
    );
  }
  switch (tool.status) {
    case 'running':
      return live ? <Spinner label={trans.__('Running')} /> : null;
    case 'denied':
      return (
        <span className="ac-bad">
          <Icon name="denied" />
          {trans.__('Denied')}
        </span>
      );
    case 'cancelled':
      return (
        <span className="ac-tool-cancelled">
          <Icon name="stop" />
          {trans.__('Cancelled')}
        </span>
      );
    default:
      return (
        <>
          {tool.exitCode === null ? null : <span>{trans.__('exit %1', tool.exitCode)}</span>}
          {time}
        </>
      );
  }
}
