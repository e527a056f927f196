/** What a person has entered into a question form so far. Pure. */
import type { AskAnswer, Question } from '../../protocol/generated';

/** The entry for one question. */
export type Entry = {
  /** Labels of the chosen options. */
  readonly chosen: readonly string[];
  /** "Other…" is chosen. */
  readonly other: boolean;
  /** The text of "Other…", or the answer where there are no options. */
  readonly text: string;
  readonly note: string;
};

export const EMPTY_ENTRY: Entry = { chosen: [], other: false, text: '', note: '' };

/** Whether the question is answered with words instead of a choice. */
export function isFreeText(question: Question): boolean {
  return question.options.length === 0;
}

/** `entry` after the option at `index` was pressed; the index after the last option is "Other…". */
export function choose(question: Question, entry: Entry, index: number): Entry {
  const label = question.options[index]?.label;
  if (label === undefined) {
    if (index !== question.options.length || !question.allow_other) {
      return entry;
    }
    return question.multi_select
      ? { ...entry, other: !entry.other }
      : { ...entry, other: true, chosen: [] };
  }
  if (!question.multi_select) {
    return { ...entry, chosen: [label], other: false };
  }
  const chosen = entry.chosen.includes(label)
    ? entry.chosen.filter(one => one !== label)
    : // in the order of the options, whatever the order of the clicks
      question.options
        .map(one => one.label)
        .filter(one => one === label || entry.chosen.includes(one));
  return { ...entry, chosen };
}

/** The answer as it is sent: labels, then the text of "Other…"; or the text alone. Empty: not answered. */
export function answerOf(question: Question, entry: Entry): string[] {
  const text = entry.text.trim();
  if (isFreeText(question)) {
    return text === '' ? [] : [text];
  }
  return entry.other && text !== '' ? [...entry.chosen, text] : [...entry.chosen];
}

/** Whether the form may go on from this question: "Other…" needs its words. */
export function isAnswered(question: Question, entry: Entry): boolean {
  const otherIsEmpty = entry.other && entry.text.trim() === '';
  return answerOf(question, entry).length > 0 && !otherIsEmpty;
}

/** All answers, and the notes as one message with the question's heading before each. */
export function buildAnswer(
  questions: readonly Question[],
  entries: ReadonlyMap<string, Entry>,
): Pick<AskAnswer, 'decision' | 'answers' | 'message'> {
  const answers: Record<string, string[] | string> = {};
  const notes: string[] = [];
  for (const question of questions) {
    const entry = entries.get(question.id) ?? EMPTY_ENTRY;
    const answer = answerOf(question, entry);
    answers[question.id] = isFreeText(question) ? (answer[0] ?? '') : answer;
    const note = entry.note.trim();
    if (note !== '') {
      notes.push(questions.length > 1 ? `${question.header || question.question}: ${note}` : note);
    }
  }
  return { decision: 'answered', answers, message: notes.length > 0 ? notes.join('\n') : null };
}
