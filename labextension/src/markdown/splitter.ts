/**
 * Cuts a growing Markdown text into blocks that will not change any more, and a tail that may.
 *
 * Only the tail's complete lines are lexed, and only when a blank line or a fence in them may allow a cut, so the work
 * over a whole answer stays a small multiple of its length. An open fence is not lexed at all.
 */
import { Lexer } from 'marked';
import type { Token } from 'marked';

import { cutPoints } from './cuts';
import { fenceEnd, openingFence } from './fence';
import type { Fence } from './fence';
import { collectDefinitions, labelsIn, withDefinitions } from './references';
import type { Definitions } from './references';

export type Block = {
  /** Stays the same while the tail grows and when it becomes a block. */
  readonly key: number;
  /** As in the document; all blocks and the tail joined are the document. */
  readonly source: string;
  /** What to render: `source`, with the definitions of the reference links that it uses. */
  readonly render: string;
  /** An open fence at the tail: show `code` as plain text until it closes. */
  readonly openFence: { readonly info: string; readonly code: string } | null;
};

export type Split = {
  /** Finished blocks: identity kept, except when a link definition that they use has just come. */
  readonly blocks: readonly Block[];
  /** The unfinished rest, null when there is none. */
  readonly tail: Block | null;
};

type Finished = { readonly labels: ReadonlySet<string> };

/** One per text part; feed it the whole text each time, it looks only at what is new. */
export class BlockSplitter {
  /** Characters given to the lexer so far: for tests that the work stays linear. */
  lexed = 0;

  private text = '';
  private done = false;
  private split: Split = { blocks: [], tail: null };
  private blocks: Block[] = [];
  private finished: Finished[] = [];
  private definitions: Definitions = new Map();
  /** Where the tail begins. */
  private cut = 0;
  /** Up to here complete lines have been looked at. */
  private seen = 0;

  /** `text` must begin with the text of the call before, else everything is split anew. `done`: no tail is left. */
  update(text: string, done: boolean): Split {
    if (text === this.text && done === this.done) {
      return this.split;
    }
    if (!text.startsWith(this.text) || this.done) {
      this.reset();
    }
    this.text = text;
    this.done = done;
    this.scan();
    const rest = text.slice(this.cut);
    this.split = { blocks: [...this.blocks], tail: rest === '' ? null : this.tailOf(rest) };
    return this.split;
  }

  private reset(): void {
    this.blocks = [];
    this.finished = [];
    this.definitions = new Map();
    this.cut = 0;
    this.seen = 0;
  }

  private scan(): void {
    const end = this.done ? this.text.length : endOfLines(this.text);
    while (this.cut < end) {
      const fence = openingFence(this.text.slice(this.cut, end));
      if (fence && !this.scanFence(fence, end)) {
        return;
      }
      if (!fence && !this.scanTokens(end)) {
        return;
      }
    }
  }

  /** True when the fence at the beginning of the tail was closed and cut off. */
  private scanFence(fence: Fence, end: number): boolean {
    const tail = this.text.slice(this.cut, end);
    // the closing line may lack its line end when the text is done; the rest then is the last block
    const from = this.seen > this.cut ? this.seen - this.cut : 0;
    const closed = fenceEnd(tail, fence, from);
    this.seen = end;
    if (closed === null && !this.done) {
      return false;
    }
    this.finish(this.cut + (closed ?? tail.length));
    return true;
  }

  /** True when something was cut off and the rest should be looked at again. */
  private scanTokens(end: number): boolean {
    if (!this.done && !mayCut(this.text.slice(Math.max(this.seen, this.cut), end))) {
      this.seen = end;
      return false;
    }
    this.seen = end;
    const region = this.text.slice(this.cut, end);
    this.lexed += region.length;
    const tokens = new Lexer({ gfm: true }).lex(region);
    this.define(tokens);
    const cuts = cutPoints(tokens, this.done).map(at => offsetIn(region, at));
    const start = this.cut;
    cuts.forEach(at => this.finish(start + at));
    if (this.done) {
      this.finish(end);
      return true;
    }
    if (cuts.length > 0 && openingFence(this.text.slice(this.cut, end)) !== null) {
      // the cut has bared a fence: its end is looked for in the lines seen just now
      return true;
    }
    this.seen = end;
    return false;
  }

  private finish(end: number): void {
    const source = this.text.slice(this.cut, end);
    if (source === '') {
      return;
    }
    const labels = source.includes(']') ? labelsIn(source) : new Set<string>();
    const render = withDefinitions(source, labels, this.definitions);
    this.blocks.push({ key: this.blocks.length, source, render, openFence: null });
    this.finished.push({ labels });
    this.cut = end;
    this.seen = Math.min(this.seen, end);
  }

  private define(tokens: readonly Token[]): void {
    const changed = collectDefinitions(tokens, this.definitions);
    if (changed.size === 0) {
      return;
    }
    this.finished.forEach(({ labels }, i) => {
      const block = this.blocks[i];
      if (block && [...changed].some(label => labels.has(label))) {
        const render = withDefinitions(block.source, labels, this.definitions);
        this.blocks[i] = { ...block, render };
      }
    });
  }

  private tailOf(source: string): Block {
    const fence = openingFence(source);
    const render =
      fence || this.definitions.size === 0
        ? source
        : withDefinitions(source, labelsIn(source), this.definitions);
    const openFence = fence && { info: fence.info, code: source.slice(fence.codeStart) };
    return { key: this.blocks.length, source, render, openFence };
  }
}

/** Behind the last line end: what stands there may still become anything. */
function endOfLines(text: string): number {
  const last = Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r'));
  // a carriage return at the very end may be half a line end
  return text.charAt(last) === '\r' && last === text.length - 1
    ? endOfLines(text.slice(0, last))
    : last + 1;
}

const MAY_CUT = /(?:^|[\n\r])[ \t]*(?:[\n\r]|`{3}|~{3})|\]:/;

/** Whether these lines can change where cuts are: a blank line, a fence, or a link definition. */
function mayCut(lines: string): boolean {
  return MAY_CUT.test(lines);
}

/** The lexer counts every line end as one character: the same offset in the text as it is. */
function offsetIn(region: string, at: number): number {
  if (!region.includes('\r')) {
    return at;
  }
  let offset = 0;
  for (let i = 0; i < at; i++) {
    offset += region.startsWith('\r\n', offset) ? 2 : 1;
  }
  return offset;
}
