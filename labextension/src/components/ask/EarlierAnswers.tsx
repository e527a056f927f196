/** The questions that were answered on earlier pages, each with a way back to it. */
import type { Question } from '../../protocol/generated';
import { LinkButton } from '../common/Button';
import { useTrans } from '../common/trans';
import { VisibleText } from '../common/VisibleText';
import { answerOf, EMPTY_ENTRY, type Entry } from './questionState';

export interface IEarlierAnswersProps {
  questions: readonly Question[];
  entries: ReadonlyMap<string, Entry>;
  onChange: (page: number) => void;
}

export function EarlierAnswers({
  questions,
  entries,
  onChange,
}: IEarlierAnswersProps): React.JSX.Element {
  const trans = useTrans();
  return (
    <>
      {questions.map((question, index) => {
        const entry = entries.get(question.id) ?? EMPTY_ENTRY;
        const words = question.secret ? '••••' : answerOf(question, entry).join(', ');
        const name = question.header || question.question;
        return (
          <div className="ac-question-earlier" key={question.id}>
            <span className="ac-quiet ac-ellipsis">
              <VisibleText text={name} />
            </span>
            <span className="ac-grow ac-ellipsis">
              <VisibleText text={words} />
            </span>
            <LinkButton aria-label={trans.__('Change %1', name)} onClick={() => onChange(index)}>
              {trans.__('Change')}
            </LinkButton>
          </div>
        );
      })}
    </>
  );
}
