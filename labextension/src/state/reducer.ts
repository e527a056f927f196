/**
 * The one reducer: a chat's events folded into what the thread shows, for replay, live frames and older pages alike.
 *
 * Pure. Cost is that of the new events, not of the history. What runs now, open asks and the queue are not here:
 * they come from `sync` alone.
 */
import type { ChatEvent, CompleteEvent, UsageEvent } from '../protocol/generated';
import { emptyLog } from './log';
import type { ChatLog } from './log';
import { LogDraft } from './log_draft';
import {
  askKey,
  askPart,
  askResolution,
  textPart,
  toolEnd,
  toolKey,
  toolPart,
  toolUpdate,
  userPart,
} from './parts';
import type { Part, TurnAgent, TurnUsage } from './view';

export { emptyLog } from './log';
export type { ChatLog } from './log';

/** True when events between the log's end and `after` are missing: load them by REST first. */
export function isGap(log: ChatLog, after: number): boolean {
  return after > log.lastSeq;
}

/**
 * Folds events behind the log's end into it; those that it knows are dropped.
 *
 * `upto`: everything stored up to there is in `events` or known (frames and pages say so). Holes are normal.
 */
export function applyEvents(log: ChatLog, events: readonly ChatEvent[], upto = 0): ChatLog {
  const fresh = events.filter(event => event.seq > log.lastSeq);
  const lastSeq = Math.max(log.lastSeq, upto, fresh.at(-1)?.seq ?? 0);
  if (fresh.length === 0) {
    return lastSeq === log.lastSeq ? log : { ...log, lastSeq };
  }
  const draft = new LogDraft(log);
  // a page that holds a rewind and its undoing holds the events between them as well: they must not go
  for (const event of fresh) {
    if (event.type === 'rewind_undone') {
      draft.uncut({ from: event.from_seq, to: event.to_seq });
    }
  }
  fresh.forEach(event => fold(draft, event));
  return draft.finish(log.firstSeq ?? fresh[0]?.seq ?? null, lastSeq);
}

/** Folds an older page in before the log's beginning, as if it had been there from the start. */
export function prependEvents(log: ChatLog, events: readonly ChatEvent[]): ChatLog {
  const { firstSeq } = log;
  if (firstSeq === null) {
    return applyEvents(log, events);
  }
  const older = events.filter(event => event.seq < firstSeq);
  if (older.length === 0) {
    return log;
  }
  const head = applyEvents({ ...emptyLog(), undone: log.undone }, older);
  const draft = new LogDraft(head);
  draft.join(log);
  return draft.finish(head.firstSeq, log.lastSeq);
}

function fold(draft: LogDraft, event: ChatEvent): void {
  switch (event.type) {
    case 'assistant_text':
    case 'thinking':
      addPart(draft, event, textPart(event));
      return;
    case 'tool_use_start':
      addPart(draft, event, toolPart(event));
      return;
    case 'tool_use_update':
      draft.changeTool(toolKey(event.tool_id), toolUpdate(event));
      return;
    case 'tool_use_end':
      draft.changeTool(toolKey(event.tool_id), toolEnd(event));
      return;
    case 'ask':
      addPart(draft, event, askPart(event));
      return;
    case 'ask_resolved':
      draft.resolveAsk(askKey(event.ask_id), askResolution(event));
      return;
    case 'user':
      draft.addUser(draft.turn(event.run_id, event.seq), userPart(event));
      return;
    case 'rewound':
      draft.cut({ from: event.from_seq, to: event.to_seq });
      break;
    default:
      break;
  }
  foldAboutTurn(draft, event);
}

type AboutTurn = Exclude<
  ChatEvent,
  { item_id: string } | { tool_id: string } | { ask_id: string } | { type: 'user' }
>;

function foldAboutTurn(draft: LogDraft, event: AboutTurn): void {
  switch (event.type) {
    case 'session':
      return;
    case 'run_started': {
      const turn = draft.turn(event.run_id, event.seq);
      turn.agent ??= agentOf(event);
      return;
    }
    case 'plan':
      draft.turn(event.run_id, event.seq).plan = { seq: event.seq, entries: event.entries };
      return;
    case 'usage':
      draft.turn(event.run_id, event.seq).usage = usageOf(event, null);
      return;
    case 'plan_usage':
      draft.turn(event.run_id, event.seq).planUsage = event.windows;
      return;
    case 'complete': {
      const turn = draft.turn(event.run_id, event.seq);
      turn.complete = completeOf(event);
      if (event.usage) {
        turn.usage = usageOf(event.usage, event.cost_usd);
      }
      return;
    }
    default:
      addPart(draft, event, singlePart(event));
  }
}

function addPart(draft: LogDraft, event: ChatEvent, part: Part): void {
  draft.addPart(draft.turn(event.run_id, event.seq), part);
}

type SingleEvent = Exclude<
  AboutTurn,
  { type: 'session' | 'run_started' | 'plan' | 'usage' | 'plan_usage' | 'complete' }
>;

/** An event that is a part by itself and never changes. */
function singlePart(event: SingleEvent): Part {
  const { seq, time } = event;
  const base = { key: `${event.type}:${seq}`, seq, time };
  switch (event.type) {
    case 'notice':
      return { ...base, type: 'notice', level: event.level, code: event.code, text: event.text };
    case 'error': {
      const { code, message, hint, detail } = event;
      return { ...base, type: 'error', code, message, hint, detail };
    }
    case 'system':
      return { ...base, type: 'system', subtype: event.subtype, data: event.data };
    case 'resume_refused':
      return { ...base, type: 'resume_refused', provider: event.provider, reason: event.reason };
    case 'forked': {
      const { from_chat: fromChat, from_seq: fromSeq, kind } = event;
      return { ...base, type: 'forked', fromChat, fromSeq, kind };
    }
    case 'rewound':
    case 'rewind_undone':
      return {
        ...base,
        type: 'rewound',
        undone: event.type === 'rewind_undone',
        method: event.method,
        fromSeq: event.from_seq,
        toSeq: event.to_seq,
        filesRestored: event.files_restored,
        filesKept: event.files_kept,
      };
    default:
      return unknownPart(event);
  }
}

/** The server may be newer than this build: what it has no word for is shown, never dropped. */
function unknownPart(event: never): Part {
  const { type, seq, time, ...rest }: { type: string; seq: number; time: string } = event;
  return { type: 'unknown', key: `${type}:${seq}`, seq, time, eventType: type, event: rest };
}

function agentOf(event: Extract<ChatEvent, { type: 'run_started' }>): TurnAgent {
  const { seq, provider, model, effort, mode, permission, continuation, origin, time } = event;
  const serviceTier = event.service_tier;
  return {
    seq,
    provider,
    model,
    effort,
    serviceTier,
    mode,
    permission,
    continuation,
    origin,
    time,
  };
}

function completeOf(event: CompleteEvent) {
  return {
    seq: event.seq,
    outcome: event.outcome,
    costUsd: event.cost_usd,
    durationMs: event.duration_ms,
    numTurns: event.num_turns,
    time: event.time,
  };
}

function usageOf(
  usage: Omit<UsageEvent, 'type' | 'seq' | 'time' | 'run_id' | 'chat_id'>,
  costUsd: number | null,
): TurnUsage {
  return {
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    cacheReadTokens: usage.cache_read_tokens,
    cacheWriteTokens: usage.cache_write_tokens,
    reasoningTokens: usage.reasoning_tokens,
    contextUsed: usage.context_used,
    contextWindow: usage.context_window,
    costUsd: costUsd ?? usage.cost_usd,
  };
}
