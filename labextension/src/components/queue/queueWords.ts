/** Why a queue waits, in words. */
import type { Sync } from '../../protocol/generated';
import type { Trans } from '../common/trans';

export function pauseWords(reason: Sync['queue_pause_reason'], trans: Trans): string {
  switch (reason) {
    case 'stopped':
      return trans.__('Paused: you stopped the agent.');
    case 'failed':
      return trans.__('Paused: the last run failed.');
    case 'interrupted':
      return trans.__('Paused: the last run was interrupted.');
    case 'restarted':
      return trans.__('Paused: the server was restarted.');
    case 'by_hand':
    case null:
      return trans.__('Paused.');
  }
}
