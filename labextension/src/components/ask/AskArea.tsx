/** The open asks of a chat, one at a time, above the composer, where they cannot scroll away. */
import type { Ask } from '../../protocol/generated';
import type { AnswerOutcome } from '../../state/stores';
import { useTrans } from '../common/trans';
import { AskCard } from './AskCard';
import { QuestionForm } from './QuestionForm';
import type { Answer } from './useAnswer';

export interface IAskAreaProps {
  /** Open asks, oldest first (`RunView.asks`). */
  asks: readonly Ask[];
  agentName: string;
  /** No answer can be given now: the server is gone, or another one runs the chat. */
  locked: boolean;
  onAnswer: (askId: string, answer: Answer) => Promise<AnswerOutcome>;
  /** Scrolls the thread to a call or an ask (`IThreadHandle.reveal`). */
  onShow: (id: string) => void;
  /** The focus may move to the command: it is in this chat and the draft is empty. */
  takeFocus: boolean;
}

export function AskArea(props: IAskAreaProps): React.JSX.Element | null {
  const { asks, agentName, locked, onAnswer, onShow, takeFocus } = props;
  const trans = useTrans();
  const [ask] = asks;
  if (ask === undefined) {
    return null;
  }
  const answer = (value: Answer): Promise<AnswerOutcome> => onAnswer(ask.ask_id, value);
  return (
    <div className="ac-asks">
      {ask.kind === 'question' ? (
        <QuestionForm
          key={ask.ask_id}
          ask={ask}
          agentName={agentName}
          locked={locked}
          onAnswer={answer}
        />
      ) : (
        <AskCard
          key={ask.ask_id}
          ask={ask}
          agentName={agentName}
          locked={locked}
          onAnswer={answer}
          onShow={() => onShow(ask.tool_id ?? ask.ask_id)}
          takeFocus={takeFocus}
        />
      )}
      {asks.length < 2 ? null : (
        <p className="ac-asks-more" role="status">
          {trans._n('%1 more is waiting.', '%1 more are waiting.', asks.length - 1)}
        </p>
      )}
    </div>
  );
}
