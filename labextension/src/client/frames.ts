/** The gate for what comes over the socket: nothing is taken as a frame or an event that is not one. */
import type { ChatEvent, Events, ServerFrame } from '../protocol/generated';
import { isRecord } from './errors';

export type EventsFrame = Omit<Events, 'events'> & { readonly events: readonly ChatEvent[] };

/** A frame, or null for what is no JSON object with a `type` (a proxy's text, a newer wire's binary). */
export function parseFrame(data: unknown): ServerFrame | null {
  if (typeof data !== 'string') {
    return null;
  }
  let frame: unknown;
  try {
    frame = JSON.parse(data);
  } catch {
    return null;
  }
  return isRecord(frame) && typeof frame.type === 'string'
    ? (frame as unknown as ServerFrame)
    : null;
}

/** Those that are events by their envelope; unknown types stay, the reducer shows them. */
export function asEvents(events: unknown): ChatEvent[] {
  return (Array.isArray(events) ? (events as unknown[]) : []).flatMap(event => {
    const isEvent =
      isRecord(event) && typeof event.seq === 'number' && typeof event.type === 'string';
    return isEvent ? [{ ...event, run_id: event.run_id ?? null } as unknown as ChatEvent] : [];
  });
}
