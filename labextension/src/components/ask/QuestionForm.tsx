/** An agent asks questions: one page each, earlier answers in sight, nothing sent before the last page. */
import { useEffect, useRef, useState } from 'react';

import type { Ask } from '../../protocol/generated';
import type { AnswerOutcome } from '../../state/stores';
import { Button, LinkButton } from '../common/Button';
import { useTrans } from '../common/trans';
import { VisibleText } from '../common/VisibleText';
import { Icon } from '../icons';
import { EarlierAnswers } from './EarlierAnswers';
import { readKey } from './options';
import { QuestionPage } from './QuestionPage';
import { buildAnswer, choose, EMPTY_ENTRY, isAnswered, type Entry } from './questionState';
import { useAnswer, type Answer } from './useAnswer';
import { useArmed } from './useArmed';

export interface IQuestionFormProps {
  ask: Ask;
  agentName: string;
  locked: boolean;
  onAnswer: (answer: Answer) => Promise<AnswerOutcome>;
}

function Steps({ page, count }: { page: number; count: number }): React.JSX.Element {
  return (
    <span className="ac-steps" aria-hidden="true">
      {count < 2
        ? null
        : Array.from({ length: count }, (_, step) => (
            <i key={step} className={step <= page ? 'ac-mod-on' : ''} />
          ))}
    </span>
  );
}

/** Give it the ask's id as `key`. */
export function QuestionForm(props: IQuestionFormProps): React.JSX.Element {
  const { ask, agentName, locked, onAnswer } = props;
  const trans = useTrans();
  const { questions } = ask;
  const [page, setPage] = useState(0);
  const [entries, setEntries] = useState<ReadonlyMap<string, Entry>>(new Map());
  const armed = useArmed();
  const { busy, failure, send } = useAnswer(onAnswer, locked);
  const form = useRef<HTMLFormElement>(null);
  const shownPage = useRef(page);
  const question = questions[page];
  const last = page >= questions.length - 1;
  const entry = entries.get(question?.id ?? '') ?? EMPTY_ENTRY;
  const ready = question !== undefined && isAnswered(question, entry) && armed && !busy;
  const change = (next: Entry): void => {
    if (question !== undefined) {
      setEntries(new Map(entries).set(question.id, next));
    }
  };
  const goOn = (): void => {
    if (ready && last) {
      send(buildAnswer(questions, entries));
    } else if (ready) {
      setPage(page + 1);
    }
  };
  // the controls of the last page are gone, and the focus with them
  useEffect(() => {
    if (shownPage.current !== page) {
      shownPage.current = page;
      const fields = form.current?.querySelectorAll<HTMLElement>(
        '.ac-question-page :is(input, textarea)',
      );
      const checked = [...(fields ?? [])].find(field => field.matches(':checked'));
      (checked ?? fields?.[0])?.focus();
    }
  }, [page]);
  const heading = question?.header ?? '';
  const place = questions.length > 1 ? trans.__('%1 of %2', page + 1, questions.length) : '';

  return (
    // number keys choose wherever the focus is in the form
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <form
      ref={form}
      className="ac-question"
      aria-label={trans.__('Question')}
      onSubmit={event => {
        event.preventDefault();
        goOn();
      }}
      onKeyDown={event => {
        const number = Number(readKey(event) ?? NaN);
        if (question !== undefined && number >= 1 && number <= 9) {
          event.preventDefault();
          change(choose(question, entry, number - 1));
        }
      }}
    >
      <div className="ac-ask-head">
        <Icon name="question" />
        <span className="ac-grow">{trans.__('%1 asks', agentName)}</span>
        <span className="ac-quiet ac-small ac-num">
          {[place, heading].filter(Boolean).join(' · ')}
        </span>
      </div>
      <div className="ac-ask-scroll">
        <EarlierAnswers questions={questions.slice(0, page)} entries={entries} onChange={setPage} />
        {question === undefined ? (
          <p className="ac-ask-why">
            <VisibleText text={ask.detail || ask.title} />
          </p>
        ) : (
          <QuestionPage key={question.id} question={question} entry={entry} onChange={change} />
        )}
      </div>
      {failure === null ? null : (
        <p className="ac-ask-failure" role="alert">
          {failure}
        </p>
      )}
      <div className="ac-question-nav">
        <Steps page={page} count={questions.length} />
        <LinkButton onClick={() => send({ decision: 'deny' })}>
          {trans.__('Do not answer')}
        </LinkButton>
        {page === 0 ? null : (
          <Button small onClick={() => setPage(page - 1)}>
            {trans.__('Back')}
          </Button>
        )}
        <Button small kind="primary" type="submit" aria-disabled={!ready}>
          {last ? trans.__('Submit answer') : trans.__('Next')}
        </Button>
      </div>
    </form>
  );
}
