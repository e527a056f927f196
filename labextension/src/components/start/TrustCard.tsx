/**
 * Asked once per project, before its first run: what the folder would make an agent load.
 *
 * It stands where the asks stand. The yes is inert for half a second, so that a held key cannot give it.
 */
import { useEffect, useId, useRef, useState } from 'react';

import type { TrustQuestion } from '../../state/stores';
import { Button, LinkButton } from '../common/Button';
import { failureWords } from '../common/failureWords';
import { useTrans } from '../common/trans';
import { VisibleText } from '../common/VisibleText';
import { Icon } from '../icons';

export interface ITrustCardProps {
  question: TrustQuestion;
  /** What to call the folder. */
  folder: string;
  agentName: (id: string) => string;
  onDecide: (trusted: boolean) => void;
  onCancel: () => void;
}

const INERT_MS = 500;

export function TrustCard(props: ITrustCardProps): React.JSX.Element {
  const { question, folder, agentName, onDecide, onCancel } = props;
  const trans = useTrans();
  const id = useId();
  const heading = useRef<HTMLDivElement>(null);
  const [inert, setInert] = useState(true);
  useEffect(() => {
    // the person has just pressed Send: nothing is half written, and no button takes the next key
    heading.current?.focus();
    const timer = setTimeout(() => setInert(false), INERT_MS);
    return () => clearTimeout(timer);
  }, []);

  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.key === 'Escape') {
      event.preventDefault();
      event.stopPropagation();
      onCancel();
    }
  };
  return (
    // Escape leaves the question, as it leaves any dialog
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <div
      className="ac-trust"
      role="alertdialog"
      aria-labelledby={`${id}-title`}
      aria-describedby={`${id}-why`}
      onKeyDown={onKeyDown}
    >
      <div ref={heading} id={`${id}-title`} className="ac-trust-head" tabIndex={-1}>
        <Icon name="shield" />
        <span className="ac-grow">{trans.__('Do you trust the project %1?', folder)}</span>
      </div>
      <p id={`${id}-why`}>
        {trans.__(
          'Its files would make agents load the following, and some of it runs commands. Trust it only if you know where it comes from.',
        )}
      </p>
      <ul className="ac-trust-loads ac-plain" aria-label={trans.__('Would be loaded')}>
        {question.loads.map(load => (
          <li key={`${load.agent} ${load.kind} ${load.path}`}>
            <span>{agentName(load.agent)}</span>
            <span className="ac-quiet">{load.kind}</span>
            <code>
              <VisibleText text={load.path} />
            </code>
          </li>
        ))}
      </ul>
      {question.failure && <p role="alert">{failureWords(question.failure, trans)}</p>}
      <div className="ac-trust-buttons">
        <Button
          kind="primary"
          aria-disabled={inert || question.deciding}
          onClick={() => !inert && !question.deciding && onDecide(true)}
        >
          {trans.__('Trust this project')}
        </Button>
        <Button disabled={question.deciding} onClick={() => onDecide(false)}>
          {trans.__("Don't trust")}
        </Button>
        <LinkButton disabled={question.deciding} onClick={onCancel}>
          {trans.__('Not now')}
        </LinkButton>
      </div>
      <p className="ac-quiet ac-small">
        {trans.__('Not trusted: the agent works, without these files.')}
      </p>
    </div>
  );
}
