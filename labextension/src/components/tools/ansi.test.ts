import { expect, test } from 'vitest';

import { parseAnsi } from './ansi';

const text = (output: string): string =>
  parseAnsi(output)
    .map(span => span.text)
    .join('');

test('colours and weights become styles, and end where the terminal ends them', () => {
  expect(parseAnsi('a \u001b[1;32mok\u001b[0m b')).toEqual([
    { text: 'a ', style: {} },
    { text: 'ok', style: { bold: true, fg: 2 } },
    { text: ' b', style: {} },
  ]);
  expect(parseAnsi('\u001b[91mx\u001b[39my')[0]).toEqual({ text: 'x', style: { fg: 9 } });
});

test('an empty SGR resets, 22 ends bold only', () => {
  const spans = parseAnsi('\u001b[1;3;31mx\u001b[22my\u001b[mz');
  expect(spans.map(span => span.style)).toEqual([
    { bold: true, italic: true, fg: 1 },
    { italic: true, fg: 1 },
    {},
  ]);
});

test('256 and exact colours are understood', () => {
  expect(parseAnsi('\u001b[38;5;196mx')[0]?.style).toEqual({ fg: [255, 0, 0] });
  expect(parseAnsi('\u001b[48;2;1;2;3mx')[0]?.style).toEqual({ bg: [1, 2, 3] });
  expect(parseAnsi('\u001b[38;5;4mx')[0]?.style).toEqual({ fg: 4 });
  expect(parseAnsi('\u001b[38;5;244mx')[0]?.style).toEqual({ fg: [128, 128, 128] });
});

test('a progress bar leaves only its last state', () => {
  expect(text('10 %\r50 %\r100 %\ndone\n')).toBe('100 %\ndone\n');
  expect(text('a\r\nb\r\n')).toBe('a\nb\n');
  expect(text('first\n10 %\r\u001b[32m20 %')).toBe('first\n20 %');
});

test('a carriage return at the end of what has come so far hides nothing yet', () => {
  expect(text('50 %\r')).toBe('50 %');
});

test('other escape sequences leave no rubbish behind', () => {
  expect(
    text(
      '\u001b[2K\u001b[1Gx\u001b]0;title\u0007y\u001b]8;;http://a\u001b\\link\u001b]8;;\u001b\\',
    ),
  ).toBe('xylink');
  expect(text('\u001b(Bx\u001b=y')).toBe('xy');
});

test('a sequence that is cut off at the end is held back', () => {
  expect(text('x\u001b[1;3')).toBe('x');
  expect(text('x\u001b')).toBe('x');
  expect(text('x\u001b]0;half')).toBe('x');
});
