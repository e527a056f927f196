/** A list of listeners with a type: what the link and the stores tell others by. */

export class Signal<T> {
  private readonly listeners = new Set<(value: T) => void>();

  /** Listeners that are connected now. */
  get size(): number {
    return this.listeners.size;
  }

  /** Calls `listener` with each value from now on; the answer ends that. */
  connect(listener: (value: T) => void): () => void {
    // a wrapper, so that the same function may be connected twice
    const entry = (value: T): void => listener(value);
    this.listeners.add(entry);
    return () => this.listeners.delete(entry);
  }

  /** A listener that throws does not keep the value from the others. */
  emit(value: T): void {
    for (const listener of [...this.listeners]) {
      try {
        listener(value);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
