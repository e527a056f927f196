import { expect, test } from 'vitest';

import { readHits, splitAtMatches } from './hits';

test('lines of a search become hits with path and line', () => {
  const found = readHits('features.py:22:    df["rush"]\ntests/t.py:3:7:x: y\n');
  expect(found).toEqual({
    hits: [
      { path: 'features.py', line: 22, text: '    df["rush"]' },
      { path: 'tests/t.py', line: 3, text: 'x: y' },
    ],
    files: 2,
  });
});

test('a list of paths below a heading becomes hits without lines', () => {
  expect(readHits('Found 2 files\nsrc/a.py\nREADME.md\n')?.hits.map(hit => hit.path)).toEqual([
    'src/a.py',
    'README.md',
  ]);
});

test.each(['No matches found', '', 'The folder is empty.', 'a.py:1:x\nsomething else entirely'])(
  '%j stays text',
  output => {
    expect(readHits(output)).toBeNull();
  },
);

test('matches are found whatever the case, and a pattern is taken as plain text', () => {
  expect(splitAtMatches('Rush and rush', 'rush')).toEqual(['', 'Rush', ' and ', 'rush', '']);
  expect(splitAtMatches('a.b axb', 'a.b')).toEqual(['', 'a.b', ' axb']);
});
