import { describe, expect, it } from 'vitest';

import type { ChatEvent } from '../protocol/generated';
import { EventWriter } from '../testing/events';
import { applyEvents, emptyLog, isGap, prependEvents } from './reducer';
import type { Part, ToolPart, Turn } from './view';

function fold(events: readonly ChatEvent[]): readonly Turn[] {
  return applyEvents(emptyLog(), events).turns;
}

function onlyTurn(writer: EventWriter): Turn {
  const turns = fold(writer.events);
  expect(turns).toHaveLength(1);
  return turns[0]!;
}

function texts(parts: readonly Part[]): string[] {
  return parts.map(part => ('text' in part ? `${part.type}: ${part.text}` : part.type));
}

describe('a turn', () => {
  it('begins with the prompt and says which agent and settings answered', () => {
    const writer = new EventWriter();
    writer.begin('r1', 'look around');
    const turn = onlyTurn(writer);
    expect(turn.user?.text).toBe('look around');
    expect(turn.agent).toMatchObject({ provider: 'tour', mode: 'code', permission: 'ask' });
    expect(turn.parts).toEqual([]);
    expect(turn.complete).toBeNull();
  });

  it('without a prompt is one that the agent began by itself', () => {
    const writer = new EventWriter();
    writer.begin('r1');
    const [, ...events] = writer.events;
    expect(fold(events)[0]).toMatchObject({ user: null, agent: { provider: 'tour' } });
  });

  it('ends with outcome and duration, and with the last usage when complete brings none', () => {
    const writer = new EventWriter();
    writer.begin('r1');
    writer.usage(10);
    writer.usage(25);
    writer.complete('cancelled');
    const turn = onlyTurn(writer);
    expect(turn.complete).toMatchObject({ outcome: 'cancelled', durationMs: 1000 });
    expect(turn.usage).toMatchObject({ outputTokens: 25, inputTokens: null, costUsd: null });
  });

  it('shows a message that was steered into it where it arrived', () => {
    const writer = new EventWriter();
    writer.begin('r1', 'first');
    writer.final('t1', 'working');
    writer.user('also this', { origin: 'steered' });
    writer.final('t2', 'done');
    const turn = onlyTurn(writer);
    expect(turn.user?.text).toBe('first');
    expect(texts(turn.parts)).toEqual(['text: working', 'user: also this', 'text: done']);
  });

  it('is not torn by an event outside of runs', () => {
    const writer = new EventWriter();
    writer.begin('r1');
    writer.final('t1', 'one');
    writer.run = null;
    writer.notice('server restarted');
    writer.run = 'r1';
    writer.final('t2', 'two');
    expect(fold(writer.events).map(turn => texts(turn.parts))).toEqual([
      ['text: one', 'text: two'],
      ['notice: server restarted'],
    ]);
  });

  it('keeps its checklist up to date', () => {
    const writer = new EventWriter();
    writer.begin('r1');
    writer.plan('a');
    writer.plan('a', 'b');
    expect(onlyTurn(writer).plan?.entries.map(({ text }) => text)).toEqual(['a', 'b']);
  });
});

describe('text', () => {
  it('grows by deltas and is replaced by its final', () => {
    const writer = new EventWriter();
    writer.begin('r1');
    const first = writer.delta('t1', 'Hel').seq;
    writer.delta('t1', 'lo');
    expect(onlyTurn(writer).parts).toMatchObject([{ text: 'Hello', done: false, seq: first }]);
    writer.final('t1', 'Hello!', first);
    expect(onlyTurn(writer).parts).toMatchObject([{ text: 'Hello!', done: true, seq: first }]);
  });

  it('stands at its first delta although its final comes after a tool call', () => {
    const writer = new EventWriter();
    writer.begin('r1');
    const first = writer.skip();
    writer.toolStart('a');
    writer.final('t1', 'before the call', first);
    expect(onlyTurn(writer).parts.map(part => part.type)).toEqual(['text', 'tool']);
  });

  it('of reasoning and of the answer do not mix, even under one item id', () => {
    const writer = new EventWriter();
    writer.begin('r1');
    writer.delta('x', 'hmm', 'thinking');
    writer.delta('x', 'yes');
    expect(texts(onlyTurn(writer).parts)).toEqual(['reasoning: hmm', 'text: yes']);
  });
});

describe('a tool call', () => {
  function toolOf(writer: EventWriter): ToolPart {
    const part = onlyTurn(writer).parts.find(({ type }) => type === 'tool');
    expect(part).toBeDefined();
    return part as ToolPart;
  }

  it('streams its output, and shows the whole output at its end', () => {
    const writer = new EventWriter();
    writer.begin('r1');
    writer.toolStart('a');
    writer.toolUpdate('a', 'line 1\n');
    writer.toolUpdate('a', 'line 2\n', 'ls -l');
    expect(toolOf(writer)).toMatchObject({
      status: 'running',
      outputText: 'line 1\nline 2\n',
      title: 'ls -l',
      output: null,
    });
    writer.toolEnd('a', { status: 'failed', is_error: true, exit_code: 2 });
    expect(toolOf(writer)).toMatchObject({
      status: 'failed',
      isError: true,
      exitCode: 2,
      outputText: '',
      output: [{ type: 'text', text: 'done' }],
    });
  });

  it('started again takes the newer title and input and stays in its place', () => {
    const writer = new EventWriter();
    writer.begin('r1');
    const { seq } = writer.toolStart('a', { title: '' });
    writer.notice('n');
    writer.toolStart('a', { title: 'ls' });
    expect(toolOf(writer)).toMatchObject({ seq, title: 'ls' });
    expect(onlyTurn(writer).parts).toHaveLength(2);
  });

  it('that ends in a later run closes where it began', () => {
    const writer = new EventWriter();
    writer.begin('r1');
    writer.toolStart('background');
    writer.complete();
    writer.begin('r2');
    writer.toolEnd('background');
    const [first, second] = fold(writer.events);
    expect(first?.parts).toMatchObject([{ status: 'completed' }]);
    expect(second?.parts).toEqual([]);
  });

  it('whose start is on an older page is not shown until that page is loaded', () => {
    const writer = new EventWriter();
    writer.begin('r1');
    writer.toolStart('a');
    writer.complete();
    const older = writer.events.length;
    writer.begin('r2');
    writer.toolEnd('a');
    const tail = applyEvents(emptyLog(), writer.events.slice(older));
    expect(tail.turns.map(turn => turn.parts)).toEqual([[]]);
    const whole = prependEvents(tail, writer.events.slice(0, older));
    expect(whole.turns[0]?.parts).toMatchObject([{ status: 'completed' }]);
    expect(whole.orphans.size).toBe(0);
  });
});

describe('an ask', () => {
  it('is open, then says who answered what', () => {
    const writer = new EventWriter();
    writer.begin('r1');
    writer.ask('q', 'a');
    expect(onlyTurn(writer).parts).toMatchObject([{ type: 'ask', resolution: null }]);
    writer.askResolved('q', { decision: 'deny', message: 'not now' });
    expect(onlyTurn(writer).parts).toMatchObject([
      { resolution: { decision: 'deny', message: 'not now', by: { name: 'Owner' } } },
    ]);
  });
});

describe('events of a newer server', () => {
  it('are shown under their name, never dropped', () => {
    const writer = new EventWriter();
    writer.begin('r1');
    writer.add<ChatEvent>({ type: 'hologram', shape: 'cube' } as never);
    expect(onlyTurn(writer).parts).toMatchObject([
      { type: 'unknown', eventType: 'hologram', event: { shape: 'cube' } },
    ]);
  });
});

describe('a rewind', () => {
  it('hides what it cut, also when an older page still brings it', () => {
    const writer = new EventWriter();
    writer.begin('r1', 'stays');
    writer.complete();
    const from = writer.begin('r2', 'goes').seq;
    const to = writer.complete().seq;
    writer.rewound(from, to);
    const prompts = (turns: readonly Turn[]) => turns.flatMap(turn => turn.user?.text ?? []);
    expect(prompts(fold(writer.events))).toEqual(['stays']);
    const tail = applyEvents(emptyLog(), writer.events.slice(-1));
    expect(prompts(prependEvents(tail, writer.events.slice(0, -1)).turns)).toEqual(['stays']);
  });

  it('that was undone hides nothing, wherever a page begins', () => {
    const writer = new EventWriter();
    writer.begin('r1', 'stays');
    writer.complete();
    const from = writer.begin('r2', 'went and came back').seq;
    const to = writer.complete().seq;
    writer.rewound(from, to);
    const undone = writer.rewound(from, to);
    const events = [...writer.events.slice(0, -1), { ...undone, type: 'rewind_undone' as const }];
    const prompts = (turns: readonly Turn[]) => turns.flatMap(turn => turn.user?.text ?? []);
    const all = ['stays', 'went and came back'];
    expect(prompts(fold(events))).toEqual(all);
    for (let cut = 1; cut < events.length; cut++) {
      const tail = applyEvents(emptyLog(), events.slice(cut));
      expect(prompts(prependEvents(tail, events.slice(0, cut)).turns)).toEqual(all);
    }
  });

  it('after one that was undone cuts again', () => {
    const writer = new EventWriter();
    writer.begin('r1', 'stays');
    writer.complete();
    const from = writer.begin('r2', 'goes in the end').seq;
    const to = writer.complete().seq;
    writer.rewound(from, to);
    const undone = writer.rewound(from, to);
    const again = writer.rewound(from, undone.seq);
    const events = [
      ...writer.events.slice(0, -2),
      { ...undone, type: 'rewind_undone' as const },
      again,
    ];
    const prompts = fold(events).flatMap(turn => turn.user?.text ?? []);
    expect(prompts).toEqual(['stays']);
  });

  it('to a steered message keeps what came before it in the turn', () => {
    const writer = new EventWriter();
    writer.begin('r1', 'stays');
    writer.final('t1', 'stays too');
    const from = writer.user('goes', { origin: 'steered' }).seq;
    writer.final('t2', 'goes too');
    const to = writer.complete().seq;
    writer.rewound(from, to);
    const [turn] = fold(writer.events);
    expect(texts(turn!.parts)).toEqual(['text: stays too']);
    expect(turn!.complete).toBeNull();
  });
});

describe('folding on', () => {
  it('drops what it knows and changes nothing then', () => {
    const writer = new EventWriter();
    writer.begin('r1');
    writer.delta('t1', 'once');
    const log = applyEvents(emptyLog(), writer.events);
    expect(applyEvents(log, writer.events, log.lastSeq)).toBe(log);
    expect(prependEvents(log, writer.events)).toBe(log);
  });

  it('takes holes for granted and sees a gap only when a frame begins beyond the end', () => {
    const writer = new EventWriter();
    writer.begin('r1');
    const log = applyEvents(emptyLog(), writer.events, 9);
    expect(isGap(log, 9)).toBe(false);
    expect(isGap(log, 10)).toBe(true);
  });

  it('leaves turns and parts that did not change the same objects', () => {
    const writer = new EventWriter();
    writer.begin('r1');
    writer.final('t1', 'old');
    writer.complete();
    writer.begin('r2');
    writer.toolStart('a');
    const before = applyEvents(emptyLog(), writer.events);
    writer.delta('t2', 'new');
    const after = applyEvents(before, writer.events);
    expect(after.turns[0]).toBe(before.turns[0]);
    expect(after.turns[1]).not.toBe(before.turns[1]);
    expect(after.turns[1]?.parts[0]).toBe(before.turns[1]?.parts[0]);
    expect(before.turns[1]?.parts).toHaveLength(1);
  });

  it('leaves the turns of a log alone when older ones come before it', () => {
    const writer = new EventWriter();
    writer.begin('r1');
    writer.complete();
    const older = writer.events.length;
    writer.begin('r2');
    writer.toolStart('a');
    const tail = applyEvents(emptyLog(), writer.events.slice(older));
    const whole = prependEvents(tail, writer.events.slice(0, older));
    expect(whole.turns).toHaveLength(2);
    expect(whole.turns[1]).toBe(tail.turns[0]);
  });
});
