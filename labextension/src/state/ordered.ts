/** Lists in the order of `seq`, looked through from the end, since what changes is nearly always the newest. */

/** Where the entry with this key is; -1 when there is none. */
export function indexOf(list: readonly { readonly key: string }[], key: string): number {
  return list.findLastIndex(entry => entry.key === key);
}

/** Adds an entry behind those with the same or a lower `seq`. */
export function insert<T extends { readonly seq: number }>(list: T[], entry: T): void {
  const before = list.findLastIndex(({ seq }) => seq <= entry.seq);
  list.splice(before + 1, 0, entry);
}
