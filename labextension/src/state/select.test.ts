import { describe, expect, it } from 'vitest';

import { EventWriter } from '../testing/events';
import { applyEvents, emptyLog } from './reducer';
import { askOfTool, checklist, latestUsage, pinnedPlan, threadItems, turnMarkdown } from './select';
import type { ThreadItem, ToolNode, Turn } from './view';

function turnsOf(writer: EventWriter): readonly Turn[] {
  return applyEvents(emptyLog(), writer.events).turns;
}

type Nested = string | [string, ...Nested[]];

function nested({ tool, children }: ToolNode): Nested {
  return children.length === 0 ? tool.toolId : [tool.toolId, ...children.map(nested)];
}

function layout(items: readonly ThreadItem[]): unknown[] {
  return items.map(item => (item.type === 'tools' ? item.tools.map(nested) : item.part.key));
}

describe('the items of a turn', () => {
  it('group calls that follow each other', () => {
    const writer = new EventWriter();
    writer.begin('r');
    writer.toolStart('a');
    writer.toolStart('b');
    writer.final('t', 'between');
    writer.toolStart('c');
    expect(layout(threadItems(turnsOf(writer)[0]!))).toEqual([['a', 'b'], 'text:t', ['c']]);
  });

  it("nest a subagent's calls under it, wherever they come", () => {
    const writer = new EventWriter();
    writer.begin('r');
    writer.toolStart('agent', { kind: 'subagent' });
    writer.toolStart('inner', { parent_tool_id: 'agent' });
    writer.final('t', 'meanwhile');
    writer.toolStart('deep', { parent_tool_id: 'inner' });
    writer.toolStart('late', { parent_tool_id: 'agent' });
    writer.toolStart('stray', { parent_tool_id: 'not loaded' });
    expect(layout(threadItems(turnsOf(writer)[0]!))).toEqual([
      [['agent', ['inner', 'deep'], 'late']],
      'text:t',
      ['stray'],
    ]);
  });

  it('leave out empty text, and asks that a call shows', () => {
    const writer = new EventWriter();
    writer.begin('r');
    writer.toolStart('a');
    writer.ask('about-a', 'a');
    writer.delta('empty', '\n');
    writer.toolStart('b');
    writer.ask('alone');
    const [turn] = turnsOf(writer);
    expect(layout(threadItems(turn!))).toEqual([['a', 'b'], 'ask:alone']);
    expect(askOfTool(turn!, 'a')?.askId).toBe('about-a');
    expect(askOfTool(turn!, 'b')).toBeNull();
  });

  it('are the same objects while their parts are', () => {
    const writer = new EventWriter();
    writer.begin('r');
    writer.toolStart('agent');
    writer.toolStart('inner', { parent_tool_id: 'agent' });
    writer.final('t', 'text');
    const log = applyEvents(emptyLog(), writer.events);
    const before = threadItems(log.turns[0]!);
    expect(threadItems(log.turns[0]!)).toBe(before);
    writer.toolStart('new');
    const after = threadItems(applyEvents(log, writer.events).turns[0]!);
    expect(after.slice(0, 2).map((item, i) => item === before[i])).toEqual([true, true]);
    writer.toolEnd('inner');
    const changed = threadItems(applyEvents(log, writer.events).turns[0]!);
    expect(changed[0]).not.toBe(before[0]);
    expect(changed[1]).toBe(before[1]);
  });
});

describe('the chat', () => {
  it('has the usage of the last turn that has one', () => {
    const writer = new EventWriter();
    writer.begin('r1');
    writer.usage(2);
    writer.complete();
    writer.begin('r2');
    expect(latestUsage(turnsOf(writer))).toMatchObject({ outputTokens: 2 });
  });

  it('pins an unfinished checklist until a later run starts that does not touch it', () => {
    const writer = new EventWriter();
    expect(checklist(turnsOf(writer))).toBeNull();
    writer.begin('r1');
    writer.plan('one');
    expect(checklist(turnsOf(writer))).toMatchObject([{ text: 'one' }]);
    writer.complete();
    expect(checklist(turnsOf(writer))).toMatchObject([{ text: 'one' }]);
    writer.begin('r2');
    expect(pinnedPlan(turnsOf(writer))).toBeNull();
    writer.plan('one', 'two');
    expect(pinnedPlan(turnsOf(writer))?.runId).toBe('r2');
  });
});

it('an answer is copied as its texts, without reasoning and tools', () => {
  const writer = new EventWriter();
  writer.begin('r');
  writer.final('think', 'hmm', null, 'thinking');
  writer.final('a', 'First.\n');
  writer.toolStart('tool');
  writer.final('b', '\nSecond.');
  expect(turnMarkdown(turnsOf(writer)[0]!)).toBe('First.\n\nSecond.');
});
