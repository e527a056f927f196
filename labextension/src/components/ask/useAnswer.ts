/** Sends one answer at a time and says what became of it. */
import { useState } from 'react';

import type { AskAnswer } from '../../protocol/generated';
import type { AnswerOutcome } from '../../state/stores';
import { failureWords } from '../common/failureWords';
import { useTrans } from '../common/trans';

/** What a card sends: the decision, and what belongs to it. */
export type Answer = Partial<AskAnswer> & Pick<AskAnswer, 'decision'>;

export interface IAnswering {
  /** An answer is on its way, or was accepted and the card is about to go. */
  readonly busy: boolean;
  /** Why the last answer did not count. */
  readonly failure: string | null;
  send: (answer: Answer) => void;
}

/** `locked`: nobody takes an answer from here now. */
export function useAnswer(
  onAnswer: (answer: Answer) => Promise<AnswerOutcome>,
  locked: boolean,
): IAnswering {
  const trans = useTrans();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const [lockedThen, setLockedThen] = useState(locked);
  if (locked !== lockedThen) {
    // what went wrong before says nothing of what comes now
    setLockedThen(locked);
    setFailure(null);
  }
  const send = (answer: Answer): void => {
    if (busy || locked) {
      return;
    }
    setBusy(true);
    setFailure(null);
    const settle = (outcome: AnswerOutcome): void => {
      if (outcome.ok) {
        return;
      }
      setBusy(false);
      setFailure(
        outcome.failure.code === 'already_resolved'
          ? trans.__('This was answered elsewhere.')
          : failureWords(outcome.failure, trans),
      );
    };
    onAnswer(answer).then(settle, (reason: unknown) => {
      setBusy(false);
      setFailure(reason instanceof Error ? reason.message : trans.__('The answer was not sent.'));
    });
  };
  return { busy: busy || locked, failure, send };
}
