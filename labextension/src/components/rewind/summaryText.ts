/** Files and decisions of a chat as a text for the message field. */
import type { WorkSummary } from '../../state/aftermath';
import type { Trans } from '../common/trans';

/** Null where there is nothing to say. */
export function summaryText({ files, decisions }: WorkSummary, trans: Trans): string | null {
  const lines = [
    ...(files.length === 0 ? [] : [trans.__('Files changed so far: %1', files.join(', '))]),
    ...(decisions.length === 0 ? [] : [trans.__('Decided so far:')]),
    ...decisions.map(({ question, answer }) => `- ${question} ${answer}`),
  ];
  return lines.length === 0 ? null : lines.join('\n');
}
