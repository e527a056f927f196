/**
 * One step of the fold, at either end of a log.
 *
 * It copies a turn when it first touches it, so turns that a step leaves alone keep their identity and a step costs
 * what it changes, not what the chat holds.
 */
import type { ChatLog, Cut, Orphan } from './log';
import { indexOf, insert } from './ordered';
import { changeTool, mergeChange, mergeText, mergeTool, prefixTool } from './parts';
import type { ToolChange } from './parts';
import type { AskPart, AskResolution, Part, ToolPart, Turn, UserPart } from './view';

type TurnDraft = { -readonly [K in keyof Turn]: K extends 'parts' ? Part[] : Turn[K] };

function sameCut(a: Cut, b: Cut): boolean {
  return a.from === b.from && a.to === b.to;
}

function inCut(cut: Cut, seq: number): boolean {
  return cut.from <= seq && seq <= cut.to;
}

export class LogDraft {
  private readonly turns: Turn[];
  private readonly touched = new Map<string, TurnDraft>();
  private readonly orphans: Map<string, Orphan>;
  private cuts: readonly Cut[];
  private undone: readonly Cut[];
  private readonly places: Map<string, string>;

  constructor(private readonly base: ChatLog) {
    this.turns = [...base.turns];
    this.orphans = new Map(base.orphans);
    this.cuts = base.cuts;
    this.undone = base.undone;
    this.places = base.places;
  }

  finish(firstSeq: number | null, lastSeq: number): ChatLog {
    return {
      ...this.base,
      turns: this.turns,
      firstSeq,
      lastSeq,
      orphans: this.orphans,
      cuts: this.cuts,
      undone: this.undone,
    };
  }

  /** The turn of a run, or of one event outside of runs, to be changed; made when it is new. */
  turn(runId: string | null, seq: number): TurnDraft {
    const key = runId === null ? `seq:${seq}` : `run:${runId}`;
    const known = this.known(key);
    if (known) {
      return known;
    }
    const made: TurnDraft = {
      key,
      seq,
      runId,
      user: null,
      agent: null,
      parts: [],
      plan: null,
      usage: null,
      planUsage: null,
      complete: null,
    };
    this.touched.set(key, made);
    insert(this.turns, made);
    return made;
  }

  addUser(turn: TurnDraft, part: UserPart): void {
    const prompt = turn.user === null && (part.origin !== 'steered' || turn.runId === null);
    if (prompt) {
      turn.user = part;
    } else {
      insert(turn.parts, part);
    }
  }

  addPart(turn: TurnDraft, part: Part): void {
    switch (part.type) {
      case 'text':
      case 'reasoning':
        this.addText(turn, part);
        return;
      case 'tool':
        this.addTool(turn, part);
        return;
      case 'ask':
        this.addAsk(turn, part);
        return;
      default:
        insert(turn.parts, part);
    }
  }

  changeTool(key: string, change: ToolChange): void {
    const place = this.place(key);
    if (place?.part.type === 'tool') {
      place.turn.parts[place.index] = changeTool(place.part, change);
      return;
    }
    const known = this.orphans.get(key);
    const all = known?.type === 'tool' ? mergeChange(known.change, change) : change;
    this.orphans.set(key, { type: 'tool', change: all });
  }

  resolveAsk(key: string, resolution: AskResolution): void {
    const place = this.place(key);
    if (place?.part.type === 'ask') {
      place.turn.parts[place.index] = { ...place.part, resolution };
    } else {
      this.orphans.set(key, { type: 'ask', resolution });
    }
  }

  cut(cut: Cut): void {
    if (this.undone.some(known => sameCut(known, cut))) {
      return;
    }
    this.cuts = [...this.cuts, cut];
    for (let i = this.turns.length - 1; i >= 0; i--) {
      const turn = this.turns[i];
      if (turn === undefined) {
        continue;
      }
      if (inCut(cut, turn.seq)) {
        this.turns.splice(i, 1);
        this.touched.delete(turn.key);
      } else if (turn.parts.some(part => inCut(cut, part.seq))) {
        // a rewind to a message that was steered into the turn
        const draft = this.own(turn, i);
        draft.parts = draft.parts.filter(part => !inCut(cut, part.seq));
        draft.complete = draft.complete && inCut(cut, draft.complete.seq) ? null : draft.complete;
      }
    }
  }

  uncut(cut: Cut): void {
    this.cuts = this.cuts.filter(known => !sameCut(known, cut));
    if (!this.undone.some(known => sameCut(known, cut))) {
      this.undone = [...this.undone, cut];
    }
  }

  /** Adds all that a newer log holds: the other way to fold its events into this one. */
  join(newer: ChatLog): void {
    newer.turns.forEach(turn => this.joinTurn(turn));
    for (const [key, orphan] of newer.orphans) {
      if (orphan.type === 'tool') {
        this.changeTool(key, orphan.change);
      } else {
        this.resolveAsk(key, orphan.resolution);
      }
    }
    newer.cuts.forEach(cut => this.cut(cut));
  }

  private joinTurn(newer: Turn): void {
    const known = this.known(newer.key);
    const begun = newer.parts.some(
      ({ key }) => this.orphans.has(key) || this.place(key) !== undefined,
    );
    if (!known && !begun) {
      insert(this.turns, newer);
      for (const part of newer.parts) {
        this.remember(newer.key, part);
      }
      return;
    }
    const turn = known ?? this.turn(newer.runId, newer.seq);
    if (newer.user) {
      this.addUser(turn, newer.user);
    }
    turn.agent ??= newer.agent;
    newer.parts.forEach(part => this.addPart(turn, part));
    turn.plan = newer.plan ?? turn.plan;
    turn.usage = newer.usage ?? turn.usage;
    turn.planUsage = newer.planUsage ?? turn.planUsage;
    turn.complete = newer.complete ?? turn.complete;
  }

  private addText(turn: TurnDraft, part: Extract<Part, { itemId: string }>): void {
    const at = indexOf(turn.parts, part.key);
    const known = turn.parts[at];
    if (known?.type !== part.type) {
      insert(turn.parts, part);
      return;
    }
    const merged = mergeText(known, part);
    if (merged.seq === known.seq) {
      turn.parts[at] = merged;
    } else {
      turn.parts.splice(at, 1);
      insert(turn.parts, merged);
    }
  }

  private addTool(turn: TurnDraft, part: ToolPart): void {
    const place = this.place(part.key);
    if (place?.part.type === 'tool') {
      place.turn.parts[place.index] = mergeTool(place.part, part);
      return;
    }
    const orphan = this.orphans.get(part.key);
    this.orphans.delete(part.key);
    insert(turn.parts, orphan?.type === 'tool' ? prefixTool(orphan.change, part) : part);
    this.remember(turn.key, part);
  }

  private addAsk(turn: TurnDraft, part: AskPart): void {
    const place = this.place(part.key);
    if (place?.part.type === 'ask') {
      const resolution = part.resolution ?? place.part.resolution;
      const { seq, time } = place.part;
      place.turn.parts[place.index] = { ...part, seq, time, resolution };
      return;
    }
    const orphan = this.orphans.get(part.key);
    this.orphans.delete(part.key);
    const early = orphan?.type === 'ask' ? orphan.resolution : null;
    insert(turn.parts, { ...part, resolution: part.resolution ?? early });
    this.remember(turn.key, part);
  }

  private remember(turnKey: string, part: Part): void {
    if (part.type === 'tool' || part.type === 'ask') {
      this.places.set(part.key, turnKey);
    }
  }

  /** Where a call or ask stands, its turn ready to be changed. */
  private place(key: string): { turn: TurnDraft; index: number; part: Part } | undefined {
    const turnKey = this.places.get(key);
    const at = turnKey === undefined ? -1 : indexOf(this.turns, turnKey);
    const turn = this.turns[at];
    const index = turn ? indexOf(turn.parts, key) : -1;
    const part = turn?.parts[index];
    return turn && part ? { turn: this.own(turn, at), index, part } : undefined;
  }

  private known(key: string): TurnDraft | undefined {
    const touched = this.touched.get(key);
    if (touched) {
      return touched;
    }
    const at = indexOf(this.turns, key);
    const turn = this.turns[at];
    return turn && this.own(turn, at);
  }

  private own(turn: Turn, at: number): TurnDraft {
    const touched = this.touched.get(turn.key);
    if (touched) {
      return touched;
    }
    const draft: TurnDraft = { ...turn, parts: [...turn.parts] };
    this.touched.set(turn.key, draft);
    this.turns[at] = draft;
    return draft;
  }
}
