/** Reading stores in components, and the smallest store there is. */
import { useSyncExternalStore } from 'react';

import type { IReadable } from '../state/stores';

export function useReadable<T>(readable: IReadable<T>): T {
  return useSyncExternalStore(readable.subscribe, readable.getSnapshot);
}

/** A part of a snapshot, so that only its changes render anew; `select` gives a primitive or a stable reference. */
export function useSelected<T, Part>(readable: IReadable<T>, select: (view: T) => Part): Part {
  return useSyncExternalStore(readable.subscribe, () => select(readable.getSnapshot()));
}

/** One value that tells its listeners when it was replaced. */
export class Value<T> implements IReadable<T> {
  constructor(value: T) {
    this.#value = value;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly getSnapshot = (): T => this.#value;

  set(value: T): void {
    if (!Object.is(value, this.#value)) {
      this.#value = value;
      this.#listeners.forEach(listener => listener());
    }
  }

  #value: T;
  readonly #listeners = new Set<() => void>();
}
