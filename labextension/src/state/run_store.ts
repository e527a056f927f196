/** What is going on in a chat now: taken from `sync` alone, never guessed from events. */
import type { Ask, QueueItem, Sync } from '../protocol/generated';
import type { RunView } from './stores';
import { change, Value } from './value';

export class RunStore {
  readonly view = new Value<RunView>({
    known: false,
    running: false,
    remote: false,
    holder: null,
    maySteer: false,
    runId: null,
    runningKey: null,
    phase: 'idle',
    asks: [],
    queue: [],
    queuePaused: false,
    pauseReason: null,
    stopping: null,
    lastOutputAt: null,
  });

  constructor(private readonly now: () => number) {}

  apply(sync: Sync): void {
    const before = this.view.getSnapshot();
    const { running, remote, phase, run_id: runId } = sync;
    const sameRun = running && runId === before.runId;
    const moved = !sameRun || phase !== before.phase;
    change(this.view, {
      known: true,
      running,
      remote,
      holder: sync.holder,
      maySteer: sync.may_steer,
      runId,
      runningKey: running && runId !== null ? `run:${runId}` : null,
      phase,
      asks: keepAsks(before.asks, sync.asks),
      queue: keepItems(before.queue, sync.queue),
      queuePaused: sync.queue_paused,
      pauseReason: sync.queue_paused ? sync.queue_pause_reason : null,
      stopping: stoppingOf(before.stopping, sameRun, phase),
      lastOutputAt: moved ? this.now() : before.lastOutputAt,
    });
  }

  /** Events came: the agent is alive. */
  sawOutput(): void {
    change(this.view, { lastOutputAt: this.now() });
  }

  /** The connection is lost: what is shown may be old. */
  forget(): void {
    change(this.view, { known: false });
  }

  setStopping(stopping: RunView['stopping']): void {
    change(this.view, { stopping });
  }
}

/** Stop that was pressed in another page shows here as well. */
function stoppingOf(
  before: RunView['stopping'],
  sameRun: boolean,
  phase: Sync['phase'],
): RunView['stopping'] {
  if (phase === 'cancelling') {
    return before ?? 'asked';
  }
  return sameRun ? before : null;
}

/** Asks never change, so the same ask is the same object: its card is not built anew under the person's hands. */
function keepAsks(before: readonly Ask[], now: readonly Ask[]): readonly Ask[] {
  const asks = now.map(ask => before.find(known => known.ask_id === ask.ask_id) ?? ask);
  const same = asks.length === before.length && asks.every((ask, i) => ask === before[i]);
  return same ? before : asks;
}

/** An item that did not change is the same object, and so is a queue of such items in the same order. */
function keepItems(before: readonly QueueItem[], now: readonly QueueItem[]): readonly QueueItem[] {
  const items = now.map(item => {
    const known = before.find(({ id }) => id === item.id);
    return known?.text === item.text && known.held_reason === item.held_reason ? known : item;
  });
  const same = items.length === before.length && items.every((item, i) => item === before[i]);
  return same ? before : items;
}
