import { expect, test } from 'vitest';

import { visiblePieces, visibleString } from './visible';

test('ordinary text in any script and emoji stay as they are', () => {
  for (const text of ['ls -la\n\tcat ü', '日本語 עברית', '👍🏽 ⚠️', '', 'a  b']) {
    expect(visiblePieces(text)).toEqual([{ text }]);
  }
});

test.each([
  ['\u202e', 'U+202E'],
  ['\u2066', 'U+2066'],
  ['\u200b', 'U+200B'],
  ['\r', 'U+000D'],
  ['\u001b', 'U+001B'],
  ['\u0000', 'U+0000'],
  ['\u00a0', 'U+00A0'],
  ['\u3164', 'U+3164'],
  ['\u{e0041}', 'U+E0041'],
  ['\ud800', 'U+D800'],
  ['\u2028', 'U+2028'],
])('%j becomes a mark', (hidden, label) => {
  expect(visibleString(`a${hidden}b`)).toBe(`a[${label}]b`);
});

test('padding that would push the rest out of sight becomes a mark', () => {
  expect(visibleString(`ls${' '.repeat(200)}; rm -rf ~`)).toBe('ls[200 ␣]; rm -rf ~');
  expect(visibleString(`ls${'\n'.repeat(50)}rm -rf ~`)).toBe('ls[50 ↵]rm -rf ~');
});
