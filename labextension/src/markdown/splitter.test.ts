import { Marked } from 'marked';
import { describe, expect, it } from 'vitest';

import { DOCUMENTS, WITH_REFERENCES } from '../testing/markdown_documents';
import { randomFrom } from '../testing/random';
import { BlockSplitter } from './splitter';
import type { Block, Split } from './splitter';

const marked = new Marked({ gfm: true });

function html(source: string): string {
  // blank text between and behind blocks is nothing that a page shows
  const text = marked.parse(source, { async: false });
  return text.replace(/([ \t]*\n)+/g, '\n').trim();
}

function allOf({ blocks, tail }: Split): readonly Block[] {
  return tail === null ? blocks : [...blocks, tail];
}

function htmlOf(split: Split): string {
  return allOf(split)
    .map(block => html(block.render))
    .filter(text => text !== '')
    .join('\n');
}

/** The text as it grows: each prefix of `step` more characters, the whole one last. */
function* prefixes(text: string, step: number): Generator<string> {
  for (let end = step; end < text.length; end += step) {
    yield text.slice(0, end);
  }
  yield text;
}

describe.each(Object.entries(DOCUMENTS))('a document %s', (_, document) => {
  it.each([1, 7, 60])('is whole at every prefix, %i characters at a time', step => {
    const splitter = new BlockSplitter();
    for (const text of prefixes(document, step)) {
      const split = splitter.update(text, false);
      expect(
        allOf(split)
          .map(block => block.source)
          .join(''),
      ).toBe(text);
    }
  });

  it('renders at every prefix as the whole would', () => {
    const splitter = new BlockSplitter();
    for (const text of prefixes(document, 1)) {
      expect(htmlOf(splitter.update(text, false)), JSON.stringify(text)).toBe(html(text));
    }
    const split = splitter.update(document, true);
    expect(split.tail).toBeNull();
    expect(htmlOf(split)).toBe(html(document));
  });

  it('never changes a finished block', () => {
    const splitter = new BlockSplitter();
    let before: readonly Block[] = [];
    for (const text of [...prefixes(document, 1)]) {
      const { blocks } = splitter.update(text, false);
      before.forEach((block, i) => expect(blocks[i]).toBe(block));
      before = blocks;
    }
    const { blocks } = splitter.update(document, true);
    before.forEach((block, i) => expect(blocks[i]).toBe(block));
    expect(blocks.map(block => block.key)).toEqual(blocks.map((_block, i) => i));
  });

  it('replayed in one piece renders the same', () => {
    const split = new BlockSplitter().update(document, true);
    expect(
      allOf(split)
        .map(block => block.source)
        .join(''),
    ).toBe(document);
    expect(htmlOf(split)).toBe(html(document));
  });
});

describe('reference links', () => {
  /** Definitions are read by whole lines: in mid-line the whole document would show half an address. */
  function complete(text: string): boolean {
    return !/(?:^|\n)\[[^\n]*$/.test(text);
  }

  function sourceOf(renders: Map<number, Set<Block>>, key: number): string {
    return [...renders.get(key)!][0]!.source;
  }

  it('render as in the whole as soon as the line of their definition is complete', () => {
    const splitter = new BlockSplitter();
    for (const text of prefixes(WITH_REFERENCES, 1)) {
      const split = splitter.update(text, false);
      if (complete(text)) {
        expect(htmlOf(split), JSON.stringify(text)).toBe(html(text));
      }
    }
    expect(htmlOf(splitter.update(WITH_REFERENCES, true))).toBe(html(WITH_REFERENCES));
  });

  it('change only the finished blocks that use them, and only once', () => {
    const splitter = new BlockSplitter();
    const renders = new Map<number, Set<Block>>();
    for (const text of prefixes(WITH_REFERENCES, 1)) {
      for (const block of splitter.update(text, false).blocks) {
        renders.set(block.key, (renders.get(block.key) ?? new Set()).add(block));
      }
    }
    const counts = [...renders.values()].map(versions => versions.size);
    expect(Math.max(...counts)).toBe(2);
    const changed = [...renders].filter(([, versions]) => versions.size > 1);
    expect(changed.map(([key]) => WITH_REFERENCES.indexOf(sourceOf(renders, key)))).toEqual([
      WITH_REFERENCES.indexOf('See'),
      WITH_REFERENCES.indexOf('More text'),
    ]);
  });
});

describe('an open fence', () => {
  it('is shown as growing plain text until it closes', () => {
    const splitter = new BlockSplitter();
    const tail = (text: string) => splitter.update(text, false).tail;
    expect(tail('Text\n\n```py')?.openFence).toBeNull();
    expect(tail('Text\n\n```py\n')?.openFence).toEqual({ info: 'py', code: '' });
    expect(tail('Text\n\n```py\na = 1\n\nb')?.openFence).toEqual({
      info: 'py',
      code: 'a = 1\n\nb',
    });
    const closed = splitter.update('Text\n\n```py\na = 1\n\nb = 2\n```\nMore', false);
    expect(closed.blocks.at(-1)?.source).toBe('```py\na = 1\n\nb = 2\n```\n');
    expect(closed.tail).toMatchObject({ source: 'More', openFence: null });
  });

  it('is not lexed, however long it grows', () => {
    const splitter = new BlockSplitter();
    let text = 'Text\n\n```py\n';
    splitter.update(text, false);
    const { lexed } = splitter;
    for (let i = 0; i < 200; i++) {
      text += `line ${i}\n\n`;
      splitter.update(text, false);
    }
    expect(splitter.lexed).toBe(lexed);
  });
});

describe('the work', () => {
  it('stays a small multiple of the length', () => {
    const document = `${DOCUMENTS.plain ?? ''}\n${DOCUMENTS.math ?? ''}\n`.repeat(20);
    const splitter = new BlockSplitter();
    for (const text of prefixes(document, 60)) {
      splitter.update(text, false);
    }
    expect(splitter.lexed).toBeLessThan(6 * document.length);
  });

  it('is not done again for the same text', () => {
    const splitter = new BlockSplitter();
    const split = splitter.update('a\n\nb\n\nc', false);
    expect(splitter.update('a\n\nb\n\nc', false)).toBe(split);
  });
});

it('another text than before is split anew', () => {
  const splitter = new BlockSplitter();
  splitter.update('one\n\ntwo\n\nthree\n\n', false);
  const split = splitter.update('uno\n\ndos\n\n', true);
  expect(split.blocks.map(block => block.source)).toEqual(['uno\n\n', 'dos\n\n']);
});

it('pieces put together at random render as the whole', () => {
  const pieces = [
    'text ',
    '\n',
    '\n\n',
    '- item\n',
    '  continued\n',
    '1. one\n',
    '> quote\n',
    '```\n',
    '~~~\n',
    '# head\n',
    '| a |\n|---|\n| b |\n',
    '    indented\n',
    '***\n',
    '$$\nx\n$$\n',
    '$a$ ',
    '`code` ',
    '<details>\n',
    '</details>\n',
    '**bold** ',
    '   \n',
    'title\n---\n',
  ];
  const differ: string[] = [];
  for (let seed = 0; seed < 400; seed++) {
    const random = randomFrom(seed);
    const splitter = new BlockSplitter();
    let text = '';
    for (let i = 0; i < 25; i++) {
      text += pieces[random(pieces.length)] ?? '';
      const split = splitter.update(text, false);
      expect(
        allOf(split)
          .map(block => block.source)
          .join(''),
      ).toBe(text);
    }
    const split = splitter.update(text, true);
    if (htmlOf(split) !== html(text)) {
      differ.push(text);
    }
  }
  expect(differ).toEqual([]);
});
