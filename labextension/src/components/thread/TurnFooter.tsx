/** The line below a finished turn: time, tokens, cost, and what can be done with the answer. */
import { turnMarkdown } from '../../state/select';
import type { Turn } from '../../state/view';
import { CopyButton } from '../common/CopyButton';
import { useTrans } from '../common/trans';
import { ForkButton } from './ForkButton';
import { usageWords } from './usage';

export interface ITurnFooterProps {
  turn: Turn;
  /** Where a fork from here ends. */
  endSeq: number | null;
}

export function TurnFooter({ turn, endSeq }: ITurnFooterProps): React.JSX.Element {
  const trans = useTrans();
  const figures = usageWords(turn, trans);
  const hasAnswer = turn.parts.some(part => part.type === 'text' && part.text.trim() !== '');
  // some agents tell neither time nor tokens: then there is no usage to name the line after
  const label = figures.length === 0 ? trans.__('Actions') : trans.__('Usage');
  return (
    <div className="ac-usage" role="group" aria-label={label}>
      {figures.map(({ kind, words }) => (
        <span key={kind} className={`ac-mod-${kind}`}>
          {words}
        </span>
      ))}
      <span className="ac-usage-actions">
        {hasAnswer ? (
          <CopyButton label={trans.__('Copy as Markdown')} text={() => turnMarkdown(turn)} />
        ) : null}
        <ForkButton afterSeq={endSeq} />
      </span>
    </div>
  );
}
