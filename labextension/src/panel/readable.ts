/** Reading stores in components. */
import { useSyncExternalStore } from 'react';

import type { IReadable } from '../state/stores';

export function useReadable<T>(readable: IReadable<T>): T {
  return useSyncExternalStore(readable.subscribe, readable.getSnapshot);
}

/** A part of a snapshot, so that only its changes render anew; `select` gives a primitive or a stable reference. */
export function useSelected<T, Part>(readable: IReadable<T>, select: (view: T) => Part): Part {
  return useSyncExternalStore(readable.subscribe, () => select(readable.getSnapshot()));
}
