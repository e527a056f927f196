/** What is open and what is closed in a thread; kept when its elements leave the page. */
import type { IFolds } from './stores';
import { Value } from './value';

export class Folds implements IFolds {
  private readonly value = new Value<ReadonlyMap<string, boolean>>(new Map());

  readonly subscribe = this.value.subscribe;
  readonly getSnapshot = this.value.getSnapshot;

  isOpen(key: string, byDefault: boolean): boolean {
    return this.value.getSnapshot().get(key) ?? byDefault;
  }

  set(key: string, open: boolean): void {
    const folds = this.value.getSnapshot();
    if (folds.get(key) !== open) {
      this.value.set(new Map(folds).set(key, open));
    }
  }
}
