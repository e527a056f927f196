/** A scene: what the thread, the asks and the plan are given. */
import type { Ask, PlanEntry } from '../src/protocol/generated';
import type { RunView } from '../src/state/stores';
import type { Turn } from '../src/state/view';

export type Story = {
  turns: Turn[];
  asks?: Ask[];
  plan?: PlanEntry[];
  run?: Partial<RunView>;
};
