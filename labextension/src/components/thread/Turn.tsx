/** One run in the thread: the person's message, then what the agent did, then what it took. */
import { memo, useCallback, useState } from 'react';

import { taskThatEnded, threadItems } from '../../state/select';
import type { AskPart, ThreadItem, Turn as TurnData, TurnAgent } from '../../state/view';
import { formatTime } from '../common/format';
import { useServices } from '../common/services';
import { useTrans, type Trans } from '../common/trans';
import { VisibleText } from '../common/VisibleText';
import { ToolList } from '../tools/ToolList';
import { Interrupted } from './Interrupted';
import { PartView } from './PartView';
import { PlanFold } from './PlanCard';
import { Rule } from './Rule';
import { TurnFooter } from './TurnFooter';
import { messageOf, UserMessage } from './UserMessage';

export interface ITurnProps {
  turn: TurnData;
  /** The agent of the run before it; null when there is none, or none is loaded. */
  agentBefore: string | null;
  /** The agent is at work on it. */
  live: boolean;
  /** Sends its prompt again, or goes on; null unless it is the last run and nothing runs. */
  onRetry: (() => void) | null;
  /** Its checklist stands above the composer. */
  planPinned: boolean;
}

function agentWords(agent: TurnAgent, model: string | null, trans: Trans): string {
  return [
    model,
    agent.effort === null ? null : trans.__('%1 effort', agent.effort),
    formatTime(agent.time),
  ]
    .filter(part => part !== null && part !== '')
    .join(' · ');
}

function AgentLine({ agent }: { agent: TurnAgent }): React.JSX.Element {
  const trans = useTrans();
  const { names } = useServices();
  const model = agent.model === null ? null : names.model(agent.provider, agent.model);
  return (
    <div className="ac-reply-line">
      <b>{names.agent(agent.provider)}</b>
      <span>{agentWords(agent, model, trans)}</span>
    </div>
  );
}

/** What began this turn, where it was not only a prompt: another agent, or the agent by itself. */
function Beginning({
  turn,
  agentBefore,
}: Pick<ITurnProps, 'turn' | 'agentBefore'>): React.JSX.Element | null {
  const trans = useTrans();
  const { names } = useServices();
  if (turn.agent === null) {
    return null;
  }
  const { provider, origin } = turn.agent;
  const name = names.agent(provider);
  return (
    <>
      {agentBefore === null || agentBefore === provider ? null : (
        <Rule>{trans.__('%1 works here from now on', name)}</Rule>
      )}
      {origin === 'provider' ? (
        <Rule>
          <VisibleText text={byItself(name, turn, trans)} />
        </Rule>
      ) : null}
    </>
  );
}

function byItself(name: string, turn: TurnData, trans: Trans): string {
  const task = taskThatEnded(turn);
  if (task === null) {
    return trans.__('%1 went on by itself', name);
  }
  const { text } = task.data;
  const reason =
    typeof text === 'string' && text.trim() !== '' ? text : trans.__('a background task ended');
  return trans.__('%1 went on by itself: %2', name, reason);
}

/** Where a fork "from here" ends: all of this turn. Null while it is not finished: all that there is. */
function endOf({ complete, parts }: TurnData): number | null {
  return complete === null ? null : Math.max(complete.seq, parts.at(-1)?.seq ?? 0);
}

/** The asks of a turn by their call; the function changes only when an ask does. */
function useAskOf(turn: TurnData): (toolId: string) => AskPart | null {
  const asks = turn.parts.filter(part => part.type === 'ask');
  const [kept, keep] = useState(asks);
  const same = kept.length === asks.length && kept.every((ask, index) => ask === asks[index]);
  if (!same) {
    keep(asks);
  }
  return useCallback(
    (toolId: string) => kept.findLast(ask => ask.toolId === toolId) ?? null,
    [kept],
  );
}

export const Turn = memo(function Turn(props: ITurnProps) {
  const { turn, agentBefore, live, onRetry, planPinned } = props;
  const trans = useTrans();
  const { names } = useServices();
  const askOf = useAskOf(turn);
  const items = threadItems(turn);
  const { user, agent, complete } = turn;
  const ended = complete !== null && !live;
  return (
    <div className="ac-turn" data-ac-turn={turn.key}>
      <Beginning turn={turn} agentBefore={agentBefore} />
      {user === null ? null : (
        <UserMessage {...messageOf(user)} message={user} endSeq={endOf(turn)} />
      )}
      {agent === null && items.length === 0 ? null : (
        <article
          className="ac-reply"
          aria-label={agent ? names.agent(agent.provider) : trans.__('Agent')}
        >
          {agent === null ? null : <AgentLine agent={agent} />}
          {items.map((item: ThreadItem) =>
            item.type === 'tools' ? (
              <ToolList key={item.key} nodes={item.tools} askOf={askOf} live={live} />
            ) : (
              <PartView
                key={item.key}
                part={item.part}
                live={live}
                onRetry={onRetry}
                endSeq={endOf(turn)}
              />
            ),
          )}
          {turn.plan === null || turn.plan.entries.length === 0 || planPinned ? null : (
            <PlanFold
              entries={turn.plan.entries}
              running={live}
              fold={`plan:${turn.key}`}
              className="ac-mod-thread"
            />
          )}
          {ended && complete.outcome === 'interrupted' ? (
            <Interrupted turn={turn} onContinue={onRetry} />
          ) : null}
          {ended && agent !== null ? <TurnFooter turn={turn} endSeq={endOf(turn)} /> : null}
        </article>
      )}
    </div>
  );
});
