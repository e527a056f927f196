/**
 * What the buttons of a queue do: calls, words for the ears, and where the focus goes.
 *
 * The queue changes by `sync` only, some time after the call, so the focus is put right when the new list is drawn.
 */
import { useLayoutEffect, useRef, useState, type RefObject } from 'react';

import type { QueueItem } from '../../protocol/generated';
import type { Failure, IQueueActions } from '../../state/stores';
import { useTrans } from '../common/trans';
import type { RowVerb } from './QueueRow';

/** Where the focus belongs: a verb of an item, or of the item at a place once it is gone. */
type Wanted = { readonly id: string; readonly index: number; readonly verb: RowVerb };

export interface IQueueVerbs {
  /** Said to screen readers. */
  readonly said: string;
  readonly failure: Failure | null;
  dismiss: () => void;
  /** The item that is edited, and its text as far as it was typed. */
  readonly editing: { readonly id: string; readonly text: string } | null;
  type: (text: string) => void;
  save: (text: string) => void;
  cancel: () => void;
  verb: (item: QueueItem, verb: RowVerb) => void;
  setPaused: (paused: boolean) => void;
}

export function useQueueVerbs(
  items: readonly QueueItem[],
  actions: IQueueActions,
  list: RefObject<HTMLElement>,
  /** The last item is gone, and with it the focus. */
  onEmptied: () => void,
): IQueueVerbs {
  const trans = useTrans();
  const [said, setSaid] = useState('');
  const [failure, setFailure] = useState<Failure | null>(null);
  const [editing, setEditing] = useState<IQueueVerbs['editing']>(null);
  const wanted = useRef<Wanted | null>(null);

  // after each drawing, since the list that the call brings about comes later
  useLayoutEffect(() => {
    const wish = wanted.current;
    const index = items.findIndex(({ id }) => id === wish?.id);
    const open = wish?.verb === 'edit' ? editing !== null : index === wish?.index;
    if (wish === null || open) {
      return;
    }
    wanted.current = null;
    if (document.activeElement !== document.body) {
      // the button is still there, or the person has gone elsewhere meanwhile
      return;
    }
    const id = index < 0 ? items[Math.min(wish.index, items.length - 1)]?.id : wish.id;
    const rows = list.current?.querySelectorAll<HTMLElement>('[data-ac-item]') ?? [];
    const row = [...rows].find(({ dataset }) => dataset.acItem === id);
    const button = row?.querySelector<HTMLElement>(`[data-ac-verb="${wish.verb}"]`);
    if (button) {
      button.focus();
    } else {
      onEmptied();
    }
  });

  const attempt = async (call: Promise<Failure | null>, words: string): Promise<boolean> => {
    setFailure(null);
    const failed = await call;
    if (failed) {
      wanted.current = null;
    }
    setFailure(failed);
    setSaid(failed ? '' : words);
    return failed === null;
  };
  const move = (item: QueueItem, by: -1 | 1) => {
    const index = items.indexOf(item);
    const to = index + by;
    wanted.current = { id: item.id, index, verb: by < 0 ? 'up' : 'down' };
    void attempt(
      actions.move(item.id, to),
      trans.__('Moved to place %1 of %2', to + 1, items.length),
    );
  };
  const leaveEditor = () => {
    if (editing) {
      const index = items.findIndex(({ id }) => id === editing.id);
      wanted.current = { id: editing.id, index: Math.max(0, index), verb: 'edit' };
    }
    setEditing(null);
  };
  return {
    said,
    failure,
    dismiss: () => setFailure(null),
    editing,
    type: text => setEditing(now => now && { ...now, text }),
    save: text => {
      if (editing) {
        void attempt(actions.edit(editing.id, text), trans.__('Saved')).then(done => {
          if (done) {
            leaveEditor();
          }
        });
      }
    },
    cancel: leaveEditor,
    verb: (item, verb) => {
      switch (verb) {
        case 'edit':
          setEditing({ id: item.id, text: item.text });
          return;
        case 'up':
          move(item, -1);
          return;
        case 'down':
          move(item, 1);
          return;
        case 'remove':
          wanted.current = { id: item.id, index: items.indexOf(item), verb: 'remove' };
          void attempt(actions.remove(item.id), trans.__('Removed from the queue'));
      }
    },
    setPaused: paused =>
      void attempt(
        paused ? actions.pause() : actions.resume(),
        paused ? trans.__('Queue paused') : trans.__('Queue goes on'),
      ),
  };
}
