/** Chats with everything in them that is hard to fold: interleaved calls, late ends, asks, streams, rewinds. */
import type { ChatEvent } from '../protocol/generated';
import { EventWriter } from './events';
import type { Random } from './random';

/** Events of some runs. Deltas of finished texts are still there, as a client that watched has seen them. */
export function randomChat(random: Random): ChatEvent[] {
  const writer = new EventWriter();
  const openTools: string[] = [];
  const runs = 1 + random(4);
  for (let run = 0; run < runs; run++) {
    const from = writer.begin(`r${run}`, `prompt ${run}`).seq;
    const steps = random(12);
    for (let step = 0; step < steps; step++) {
      randomStep(writer, random, `${run}.${step}`, openTools);
    }
    if (random(4) > 0) {
      const end = writer.complete(random(2) === 0 ? 'completed' : 'failed');
      if (random(4) === 0 && openTools.length === 0) {
        writer.rewound(from, end.seq);
      }
    }
    writer.run = null;
    if (random(3) === 0) {
      writer.notice('between runs');
    }
  }
  return writer.events;
}

function randomStep(writer: EventWriter, random: Random, id: string, openTools: string[]): void {
  switch (random(8)) {
    case 0:
    case 1:
      randomText(writer, random, `text-${id}`, openTools);
      return;
    case 2:
      openTools.push(`tool-${id}`);
      writer.toolStart(`tool-${id}`, { parent_tool_id: openTools.at(-random(3) - 1) ?? null });
      return;
    case 3:
      randomToolEvent(writer, random, openTools);
      return;
    case 4:
      writer.ask(`ask-${id}`, openTools.at(-1) ?? null);
      if (random(2) === 0) {
        writer.notice('meanwhile');
      }
      if (random(3) > 0) {
        writer.askResolved(`ask-${id}`);
      }
      return;
    case 5:
      writer.plan(id);
      writer.usage(random(100));
      return;
    case 6:
      writer.user('by the way', { origin: 'steered' });
      return;
    default:
      writer.notice(id);
  }
}

function randomToolEvent(writer: EventWriter, random: Random, openTools: string[]): void {
  const [tool] = openTools.splice(random(openTools.length), 1);
  if (tool === undefined) {
    return;
  }
  if (random(3) === 0) {
    writer.toolEnd(tool);
    return;
  }
  openTools.push(tool);
  if (random(4) === 0) {
    writer.toolStart(tool, { title: 'better' });
  } else {
    writer.toolUpdate(tool, 'output ', random(2) === 0 ? 'title' : null);
  }
}

function randomText(writer: EventWriter, random: Random, id: string, openTools: string[]): void {
  const type = random(3) === 0 ? 'thinking' : 'assistant_text';
  let first: number | null = null;
  let text = '';
  for (let i = random(4); i > 0; i--) {
    first ??= writer.delta(id, `${id} ${i} `, type).seq;
    text = `${id} final`;
    if (random(3) === 0) {
      randomToolEvent(writer, random, openTools);
    }
  }
  if (random(4) > 0) {
    writer.final(id, text, first, type);
  }
}

/** The same chat as the server replays it: without the deltas of finished texts. */
export function compacted(events: readonly ChatEvent[]): ChatEvent[] {
  const isText = (event: ChatEvent) => event.type === 'assistant_text' || event.type === 'thinking';
  const finished = new Set(
    events.flatMap(event =>
      isText(event) && 'final' in event && event.final ? [event.item_id] : [],
    ),
  );
  return events.filter(event => !('final' in event) || event.final || !finished.has(event.item_id));
}
