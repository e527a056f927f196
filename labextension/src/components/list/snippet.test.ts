import { expect, it } from 'vitest';

import { piecesOf } from './snippet';

it.each([
  ['a \ue000b\ue001 c', ['a ', '[b]', ' c']],
  ['\ue000b\ue001\ue000c\ue001', ['[b]', '[c]']],
  ['cut \ue000off', ['cut ', '[off]']],
  ['\ue001odd', ['odd']],
  ['', []],
])('marks of %j become pieces', (snippet, expected) => {
  expect(piecesOf(snippet).map(({ text, match }) => (match ? `[${text}]` : text))).toEqual(
    expected,
  );
});
