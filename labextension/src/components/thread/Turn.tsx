/** One run in the thread: the person's message, then what the agent did, then what it took. */
import { memo, useCallback, useState } from 'react';

import { assertNever } from '../common/assertNever';
import { formatTime } from '../common/format';
import { useServices } from '../common/services';
import { useTrans, type Trans } from '../common/trans';
import { Markdown } from '../markdown/Markdown';
import { threadItems } from '../../state/select';
import type {
  AskPart,
  Part,
  ThreadItem,
  ToolPart,
  Turn as TurnData,
  TurnAgent,
  UserPart,
} from '../../state/view';
import { ToolList } from '../tools/ToolList';
import { AskRecord } from './AskRecord';
import { ErrorBlock } from './ErrorBlock';
import { Interrupted } from './Interrupted';
import { Reasoning } from './Reasoning';
import {
  ForkedLine,
  NoticeLine,
  ResumeRefused,
  RewoundLine,
  SystemLine,
  UnknownEvent,
} from './SmallParts';
import { TurnFooter } from './TurnFooter';
import { UserMessage, type IUserMessageProps } from './UserMessage';

export interface ITurnProps {
  turn: TurnData;
  /** The agent is at work on it. */
  live: boolean;
  /** Sends its prompt again; null unless it is the last turn and nothing runs. */
  onRetry: (() => void) | null;
}

/** What a message shows of a part. */
function messageOf({ text, attachments, author, time }: UserPart): IUserMessageProps {
  return { text, attachments, author, time };
}

type OtherPart = Exclude<Part, ToolPart>;

function PartView({
  part,
  live,
  onRetry,
}: { part: OtherPart } & Omit<ITurnProps, 'turn'>): React.JSX.Element | null {
  switch (part.type) {
    case 'text':
      return (
        <div className="ac-answer" aria-busy={live && !part.done}>
          <Markdown text={part.text} done={part.done || !live} />
        </div>
      );
    case 'reasoning':
      return <Reasoning part={part} live={live} />;
    case 'ask':
      return <AskRecord ask={part} live={live} />;
    case 'user':
      return <UserMessage {...messageOf(part)} />;
    case 'notice':
      return <NoticeLine part={part} />;
    case 'error':
      return <ErrorBlock part={part} onRetry={onRetry} />;
    case 'system':
      return <SystemLine part={part} />;
    case 'resume_refused':
      return <ResumeRefused part={part} />;
    case 'forked':
      return <ForkedLine part={part} />;
    case 'rewound':
      return <RewoundLine part={part} />;
    case 'unknown':
      return <UnknownEvent part={part} />;
    default:
      return assertNever(part);
  }
}

function agentWords(agent: TurnAgent, model: string | null, trans: Trans): string {
  return [
    model,
    agent.effort === null ? null : trans.__('%1 effort', agent.effort),
    agent.origin === 'provider' ? trans.__('by itself') : null,
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

export const Turn = memo(function Turn({ turn, live, onRetry }: ITurnProps) {
  const trans = useTrans();
  const { names } = useServices();
  const askOf = useAskOf(turn);
  const items = threadItems(turn);
  const { user, agent, complete } = turn;
  const ended = complete !== null && !live;
  return (
    <div className="ac-turn" data-ac-turn={turn.key}>
      {user === null ? null : <UserMessage {...messageOf(user)} />}
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
              <PartView key={item.key} part={item.part} live={live} onRetry={onRetry} />
            ),
          )}
          {ended && complete.outcome === 'interrupted' ? <Interrupted turn={turn} /> : null}
          {ended && agent !== null ? <TurnFooter turn={turn} /> : null}
        </article>
      )}
    </div>
  );
});
