/** The smallest store: one value that tells its listeners when it was replaced. */
import { Signal } from '../client/signal';
import type { IReadable } from './stores';

export class Value<T> implements IReadable<T> {
  private readonly changed = new Signal<void>();

  constructor(private current: T) {}

  readonly subscribe = (listener: () => void): (() => void) => this.changed.connect(listener);

  readonly getSnapshot = (): T => this.current;

  /** Listeners are told only when the value is another one. */
  set(value: T): void {
    if (!Object.is(value, this.current)) {
      this.current = value;
      this.changed.emit();
    }
  }
}

/** Replaces some fields of an object value; nothing happens when they are what they were. */
export function change<T extends object>(value: Value<T>, fields: Partial<T>): void {
  const current = value.getSnapshot();
  const names = Object.keys(fields) as (keyof T)[];
  if (names.some(name => !Object.is(current[name], fields[name]))) {
    value.set({ ...current, ...fields });
  }
}
