/** The figures below a turn, in words. Pure. */
import type { Turn } from '../../state/view';
import { formatCost, formatDuration, formatTokens } from '../common/format';
import type { Trans } from '../common/trans';

function durationWords(turn: Turn, trans: Trans): string | null {
  const { complete } = turn;
  if (complete === null) {
    return null;
  }
  const time = complete.durationMs === null ? null : formatDuration(complete.durationMs);
  switch (complete.outcome) {
    case 'completed':
      return time;
    case 'cancelled':
      return time === null ? trans.__('Stopped') : trans.__('Stopped after %1', time);
    case 'failed':
      return time === null ? trans.__('Failed') : trans.__('Failed after %1', time);
    case 'interrupted':
      return time === null ? trans.__('Interrupted') : trans.__('Interrupted after %1', time);
  }
}

/** One figure; where it is narrow some kinds are left out. */
export type UsageFigure = {
  readonly kind: 'time' | 'tokens' | 'cached' | 'cost';
  readonly words: string;
};

/** What is known of a turn that has ended, in order; what is not known is left out, never 0. */
export function usageWords(turn: Turn, trans: Trans): UsageFigure[] {
  const usage = turn.usage;
  const [input, output] = [usage?.inputTokens ?? null, usage?.outputTokens ?? null];
  const tokens = [
    input === null ? null : trans.__('%1 in', formatTokens(input)),
    output === null ? null : trans.__('%1 out', formatTokens(output)),
  ].filter(part => part !== null);
  const cached = usage?.cacheReadTokens ?? null;
  const cost = turn.complete?.costUsd ?? usage?.costUsd ?? null;
  const figures: [UsageFigure['kind'], string | null][] = [
    ['time', durationWords(turn, trans)],
    ['tokens', tokens.length === 0 ? null : tokens.join(', ')],
    [
      'cached',
      cached === null || cached === 0 ? null : trans.__('%1 cached', formatTokens(cached)),
    ],
    [
      'cost',
      cost !== null ? formatCost(cost) : tokens.length > 0 ? trans.__('cost unknown') : null,
    ],
  ];
  return figures.flatMap(([kind, words]) => (words === null ? [] : [{ kind, words }]));
}
