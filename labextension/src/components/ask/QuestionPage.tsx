/** One question: its choices or a text field, "Other…", and a note to the agent. */
import { useId } from 'react';

import type { Question } from '../../protocol/generated';
import { useTrans } from '../common/trans';
import { VisibleText } from '../common/VisibleText';
import { choose, isFreeText, type Entry } from './questionState';

export interface IQuestionPageProps {
  question: Question;
  entry: Entry;
  onChange: (entry: Entry) => void;
}

interface IChoiceProps {
  multi: boolean;
  group: string;
  checked: boolean;
  /** Its number key. */
  number: number;
  label: React.ReactNode;
  description: string;
  onPress: () => void;
}

function Choice(props: IChoiceProps): React.JSX.Element {
  const { multi, group, checked, number, label, description, onPress } = props;
  return (
    <label className={checked ? 'ac-choice ac-mod-on' : 'ac-choice'}>
      <input
        type={multi ? 'checkbox' : 'radio'}
        name={group}
        checked={checked}
        onChange={onPress}
      />
      <span>{label}</span>
      {number > 9 ? null : (
        <kbd className="ac-key" aria-hidden="true">
          {number}
        </kbd>
      )}
      {description === '' ? null : (
        <span className="ac-choice-description">
          <VisibleText text={description} />
        </span>
      )}
    </label>
  );
}

function TextAnswer({
  question,
  entry,
  onChange,
  label,
}: IQuestionPageProps & { label: string }): React.JSX.Element {
  const props = {
    className: 'ac-field',
    'aria-label': label,
    value: entry.text,
    onChange: (event: React.ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) =>
      onChange({ ...entry, text: event.target.value }),
  };
  // a secret must not end up in the browser's memory of forms
  return question.secret ? (
    <input type="password" autoComplete="off" spellCheck={false} {...props} />
  ) : (
    <textarea rows={2} {...props} />
  );
}

export function QuestionPage(props: IQuestionPageProps): React.JSX.Element {
  const { question, entry, onChange } = props;
  const trans = useTrans();
  const id = useId();
  const free = isFreeText(question);
  const press = (index: number): void => onChange(choose(question, entry, index));
  return (
    <div className="ac-question-page">
      <p className="ac-question-text" id={`${id}-text`}>
        <VisibleText text={question.question} />
      </p>
      {question.multi_select && !free ? (
        <p className="ac-question-hint">{trans.__('Choose one or more.')}</p>
      ) : null}
      {free ? (
        <TextAnswer {...props} label={trans.__('Answer')} />
      ) : (
        <div role={question.multi_select ? 'group' : 'radiogroup'} aria-labelledby={`${id}-text`}>
          {question.options.map((option, index) => (
            <Choice
              key={option.label}
              multi={question.multi_select}
              group={id}
              checked={entry.chosen.includes(option.label)}
              number={index + 1}
              label={<VisibleText text={option.label} />}
              description={option.description}
              onPress={() => press(index)}
            />
          ))}
          {question.allow_other ? (
            <Choice
              multi={question.multi_select}
              group={id}
              checked={entry.other}
              number={question.options.length + 1}
              label={trans.__('Other…')}
              description=""
              onPress={() => press(question.options.length)}
            />
          ) : null}
        </div>
      )}
      {entry.other && !free ? <TextAnswer {...props} label={trans.__('Other')} /> : null}
      {question.secret ? null : (
        <>
          <label className="ac-question-note" htmlFor={`${id}-note`}>
            {trans.__('Note to the agent, if you like')}
          </label>
          <textarea
            id={`${id}-note`}
            className="ac-field"
            rows={1}
            value={entry.note}
            onChange={event => onChange({ ...entry, note: event.target.value })}
          />
        </>
      )}
    </div>
  );
}
