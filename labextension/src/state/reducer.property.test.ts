/** One fold for everything: however a chat's events come in, the thread is the same. */
import { describe, expect, it } from 'vitest';

import type { ChatEvent } from '../protocol/generated';
import { randomFrom } from '../testing/random';
import { compacted, randomChat } from '../testing/random_chat';
import { applyEvents, emptyLog, prependEvents } from './reducer';
import type { ChatLog } from './reducer';

const SEEDS = Array.from({ length: 300 }, (_, seed) => seed);

function fold(events: readonly ChatEvent[]) {
  return applyEvents(emptyLog(), events);
}

/** All but the hints, which may remember calls that a rewind has hidden. */
function shown({ turns, firstSeq, lastSeq, orphans, cuts }: ChatLog) {
  return { turns, firstSeq, lastSeq, orphans, cuts };
}

describe.each([
  ['as watched live', (events: ChatEvent[]) => events],
  ['as replayed', compacted],
])('a chat %s', (_, seen) => {
  it('is the same whether older pages come later or everything at once', () => {
    for (const seed of SEEDS) {
      const random = randomFrom(seed);
      const events = seen(randomChat(random));
      const at = random(events.length + 1);
      const tail = fold(events.slice(at));
      expect(shown(prependEvents(tail, events.slice(0, at))), `seed ${seed}, cut at ${at}`).toEqual(
        shown(fold(events)),
      );
    }
  });

  it('is the same page by page from the end', () => {
    for (const seed of SEEDS) {
      const random = randomFrom(seed);
      const events = seen(randomChat(random));
      let log = emptyLog();
      for (let end = events.length; end > 0;) {
        const begin = Math.max(0, end - 1 - random(6));
        log = prependEvents(log, events.slice(begin, end));
        end = begin;
      }
      expect(shown(log), `seed ${seed}`).toEqual(shown(fold(events)));
    }
  });

  it('is the same event by event, in batches, and with events that come twice', () => {
    for (const seed of SEEDS) {
      const random = randomFrom(seed);
      const events = seen(randomChat(random));
      let log = emptyLog();
      for (let at = 0; at < events.length;) {
        const upto = at + 1 + random(4);
        log = applyEvents(log, events.slice(Math.max(0, at - random(3)), upto));
        at = upto;
      }
      expect(shown(log), `seed ${seed}`).toEqual(shown(fold(events)));
    }
  });
});

it('a reload shows the turns that were watched live', () => {
  for (const seed of SEEDS) {
    const events = randomChat(randomFrom(seed));
    expect(fold(compacted(events)).turns, `seed ${seed}`).toEqual(fold(events).turns);
  }
});
