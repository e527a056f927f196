/** The trace of an ask in the thread, where no tool call carries it: what was asked, and what came of it. */
import type { AskPart } from '../../state/view';
import { useServices } from '../common/services';
import { useTrans } from '../common/trans';
import { VisibleText } from '../common/VisibleText';
import { Icon, type IconName } from '../icons';
import { Markdown } from '../markdown/Markdown';
import { resolutionWords } from '../tools/ToolMark';

const ICONS: Readonly<Record<AskPart['kind'], IconName>> = {
  permission: 'shield',
  question: 'question',
  plan: 'checklist',
};

/** Questions with their answers; a secret one says only that it was answered. */
export function AnswerList({ ask }: { ask: AskPart }): React.JSX.Element | null {
  const trans = useTrans();
  const answers = ask.resolution?.answers;
  if (!answers) {
    return null;
  }
  return (
    <dl className="ac-answers">
      {ask.questions.map(question => {
        const answer = answers[question.id];
        const words = Array.isArray(answer) ? answer.join(', ') : answer;
        return (
          <div key={question.id}>
            <dt>
              <VisibleText text={question.header || question.question} />
            </dt>
            <dd>{words == null ? trans.__('(secret)') : <VisibleText text={words} />}</dd>
          </div>
        );
      })}
    </dl>
  );
}

export function AskRecord({ ask, live }: { ask: AskPart; live: boolean }): React.JSX.Element {
  const trans = useTrans();
  const { names } = useServices();
  const waiting = live && ask.resolution === null;
  return (
    <div className="ac-ask-record" data-ac-ask={ask.askId}>
      <div className="ac-ask-record-line">
        <Icon name={ICONS[ask.kind]} />
        <span className="ac-grow">
          <VisibleText text={ask.title} />
        </span>
        {waiting ? (
          <span className="ac-badge ac-mod-ask">{trans.__('Waiting for you')}</span>
        ) : ask.resolution === null ? null : (
          <span className="ac-tool-by">
            {resolutionWords(ask, ask.resolution, names.me, trans)}
          </span>
        )}
      </div>
      {ask.plan !== null && !waiting ? (
        <div className="ac-ask-record-body">
          <Markdown text={ask.plan} done />
        </div>
      ) : null}
      <AnswerList ask={ask} />
      {ask.resolution?.message ? (
        <p className="ac-tool-note">
          {trans.__('Note to the agent:')} <VisibleText text={ask.resolution.message} />
        </p>
      ) : null}
    </div>
  );
}
