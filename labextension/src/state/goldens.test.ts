/** The events that adapters really make, folded: the same files that the adapters' own tests write. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from 'vitest';

import type { ChatEvent, CompleteEvent, ToolUseEndEvent } from '../protocol/generated';
import { EventWriter } from '../testing/events';
import { compacted } from '../testing/random_chat';
import { applyEvents, emptyLog, prependEvents } from './reducer';

const transcripts = fileURLToPath(new URL('../../../tests/transcripts/', import.meta.url));
const goldens = readdirSync(transcripts, { recursive: true, encoding: 'utf8' }).filter(name =>
  name.endsWith('.events.json'),
);

/**
 * What the hub adds (`RunTracker.closing`): a run that was stopped, or failed, has its open calls closed before its
 * end. An agent ends every call of a run that it completes, so nothing is added there: a call left open must be seen.
 */
function closing(open: ReadonlySet<string>, { outcome }: CompleteEvent): ToolUseEndBody[] {
  const status = outcome === 'failed' ? 'failed' : 'cancelled';
  return outcome === 'completed'
    ? []
    : [...open].map(tool_id => ({
        type: 'tool_use_end',
        tool_id,
        status,
        is_error: status === 'failed',
        output: [],
        diffs: [],
        exit_code: null,
        duration_ms: null,
      }));
}

type ToolUseEndBody = Omit<ToolUseEndEvent, 'seq' | 'time' | 'run_id' | 'chat_id'>;

/** One list of event bodies per prompt; one that came while a run was on was steered into it. */
function eventsOf(golden: string): ChatEvent[] {
  const runs = JSON.parse(readFileSync(transcripts + golden, 'utf8')) as ChatEvent[][];
  const writer = new EventWriter();
  const first = new Map<string, number>();
  const open = new Set<string>();
  runs.forEach((bodies, i) => {
    if (writer.run === null) {
      writer.begin(`run${i}`, `prompt ${i}`);
    } else {
      writer.user(`prompt ${i}`, { origin: 'steered' });
    }
    for (const body of bodies) {
      if (body.type === 'tool_use_start') {
        open.add(body.tool_id);
      } else if (body.type === 'tool_use_end') {
        open.delete(body.tool_id);
      } else if (body.type === 'complete') {
        closing(open, body).forEach(end => writer.add<ToolUseEndEvent>(end));
        open.clear();
      }
      if (!('item_id' in body)) {
        writer.add<ChatEvent>(body);
        continue;
      }
      // the store stamps `first_seq`, translators do not know seqs
      const key = `${body.type} ${body.item_id}`;
      const { seq } = writer.add<ChatEvent>({ ...body, first_seq: first.get(key) ?? null });
      first.set(key, first.get(key) ?? seq);
    }
    if (bodies.at(-1)?.type === 'complete') {
      writer.run = null;
    }
  });
  return writer.events;
}

function shown(events: readonly ChatEvent[]) {
  return applyEvents(emptyLog(), events).turns;
}

it('there are goldens', () => {
  expect(goldens.length).toBeGreaterThan(0);
});

describe.each(goldens)('%s', golden => {
  const events = eventsOf(golden);

  it('is understood: one turn a run, every part known, every call closed', () => {
    const { turns, orphans } = applyEvents(emptyLog(), events);
    const runs = events.filter(event => event.type === 'run_started').map(event => event.run_id);
    expect(turns.map(turn => turn.runId)).toEqual(runs);
    expect(orphans.size).toBe(0);
    expect(turns.flatMap(turn => turn.parts).filter(part => part.type === 'unknown')).toEqual([]);
    const ended = turns.filter(turn => turn.complete !== null).flatMap(turn => turn.parts);
    expect(ended.filter(part => part.type === 'tool' && part.status === 'running')).toEqual([]);
  });

  it('is the same however its pages are cut', () => {
    for (let at = 0; at <= events.length; at += 1 + Math.floor(events.length / 40)) {
      const tail = applyEvents(emptyLog(), events.slice(at));
      expect(prependEvents(tail, events.slice(0, at)).turns).toEqual(shown(events));
    }
  });

  it('is the same after a reload', () => {
    expect(shown(compacted(events))).toEqual(shown(events));
  });
});
