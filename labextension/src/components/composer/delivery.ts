/** What the composer's buttons mean, from what runs and what waits; pure. */
import type { RunView } from '../../state/stores';
import type { Trans } from '../common/trans';
import type { ISecondVerb, Verb } from './Composer';

export type Delivery = 'auto' | 'queue' | 'steer' | 'now';

export interface IDeliveryChoice {
  verb: Verb;
  delivery: Delivery;
  second: (Omit<ISecondVerb, 'onUse'> & { delivery: Delivery }) | null;
}

type Run = Pick<RunView, 'running' | 'maySteer' | 'queue' | 'queuePaused'>;

/** Nothing runs, and what waits does not go by itself: a new prompt need not stand behind it. */
function isStuck({ running, queue, queuePaused }: Run): boolean {
  return !running && (queuePaused || queue.some(({ held_reason }) => held_reason !== null));
}

export function deliveryChoice(run: Run, trans: Trans): IDeliveryChoice {
  if (isStuck(run) && run.queue.length > 0) {
    const label = trans.__('Queue prompt');
    return {
      verb: 'send',
      delivery: 'now',
      second: {
        label,
        icon: 'checklist',
        title: trans.__('Queue prompt: it waits behind the others'),
        delivery: 'queue',
      },
    };
  }
  if (!run.running && run.queue.length === 0) {
    return { verb: 'send', delivery: 'auto', second: null };
  }
  const steer: IDeliveryChoice['second'] = {
    label: trans.__('Steer'),
    icon: 'steer',
    title: trans.__('Steer: hand this to the agent while it works'),
    delivery: 'steer',
  };
  return { verb: 'queue', delivery: 'auto', second: run.running && run.maySteer ? steer : null };
}
