import { expect, test } from 'vitest';

import { diffRows, type DiffRow } from './diff';
import { diffLines } from './lineDiff';

const shown = (rows: readonly DiffRow[]): string[] =>
  rows.map(row => {
    if (row.kind === 'gap') {
      return `@ ${String(row.skipped)} ${String(row.line)} ${row.heading}`.trim();
    }
    const sign = { context: ' ', added: '+', removed: '-' }[row.kind];
    const marked = row.mark
      ? `${row.text.slice(0, row.mark[0])}«${row.text.slice(...row.mark)}»${row.text.slice(row.mark[1])}`
      : row.text;
    return `${row.old ?? '·'} ${row.new ?? '·'} ${sign}${marked}`;
  });

const PATCH = `--- a/features.py
+++ b/features.py
@@ -18,4 +18,5 @@ def add_calendar(df):
 def add_calendar(df):
-    df["hour"] = t.hour
+    df["hour"] = t.hour.astype("int8")
+    # new
     return df

@@ -36,2 +37,1 @@
-gone
 kept
\\ No newline at end of file
`;

test('a patch keeps its line numbers, headings and the count of what lies between', () => {
  expect(shown(diffRows({ patch: PATCH, old: null, new: null }))).toEqual([
    '@ null 18 def add_calendar(df):',
    '18 18  def add_calendar(df):',
    '19 · -    df["hour"] = t.hour',
    '· 19 +    df["hour"] = t.hour«.astype("int8")»',
    '· 20 +    # new',
    '20 21      return df',
    '21 22  ',
    '@ 14 37',
    '36 · -gone',
    '37 37  kept',
  ]);
});

test('old and new texts are compared, and unchanged lines far from a change are left out', () => {
  const lines = Array.from({ length: 20 }, (_, i) => `line ${i + 1}`);
  const before = lines.join('\n');
  const after = lines.map(line => (line === 'line 3' ? 'other' : line)).join('\n') + '\nend\n';
  expect(shown(diffRows({ patch: null, old: before, new: after }))).toEqual([
    '1 1  line 1',
    '2 2  line 2',
    '3 · -line 3',
    '· 3 +other',
    '4 4  line 4',
    '5 5  line 5',
    '6 6  line 6',
    '@ 11 18',
    '18 18  line 18',
    '19 19  line 19',
    '20 20  line 20',
    '· 21 +end',
  ]);
});

test('a new file is all added, a deleted one all removed, an unknown change is nothing', () => {
  expect(shown(diffRows({ patch: null, old: null, new: 'a\nb\n' }))).toEqual(['· 1 +a', '· 2 +b']);
  expect(shown(diffRows({ patch: null, old: 'a\n', new: '' }))).toEqual(['1 · -a']);
  expect(diffRows({ patch: null, old: null, new: null })).toEqual([]);
});

test('a line that begins with dashes is not taken for a file header', () => {
  expect(
    shown(diffRows({ patch: '@@ -1 +1 @@\n--- a\n+++ b\n', old: null, new: null })).slice(1),
  ).toEqual(['1 · -«-- a»', '· 1 +«++ b»'].map(row => row.replace(/[«»]/g, '')));
});

test('whole words are marked, and nothing when the lines have little in common', () => {
  const rows = (old: string, now: string): string[] =>
    shown(diffRows({ patch: null, old, new: now }));
  expect(rows('x = alpha(1.0)', 'x = alphabet(1.0)')).toEqual([
    '1 · -x = «alpha»(1.0)',
    '· 1 +x = «alphabet»(1.0)',
  ]);
  expect(rows('is_weekend = day > 5', 'is_weekend = day >= 5')[1]).toBe(
    '· 1 +is_weekend = day >«=» 5',
  );
  expect(rows('abc def', 'something else here')[0]).toBe('1 · -abc def');
});

test('the steps always lead from one text to the other', () => {
  let seed = 7;
  const random = (): number => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
  const text = (): string[] =>
    Array.from({ length: Math.floor(random() * 14) }, () => 'abc'.charAt(Math.floor(random() * 3)));
  for (let round = 0; round < 300; round++) {
    const [olds, news] = [text(), text()];
    const steps = diffLines(olds, news);
    let [old, now] = [0, 0];
    const made: string[] = [];
    for (const step of steps) {
      if (step === 'same') {
        expect(olds[old]).toBe(news[now]);
        made.push(olds[old++]!);
        now++;
      } else if (step === 'removed') {
        old++;
      } else {
        made.push(news[now++]!);
      }
    }
    expect([old, made]).toEqual([olds.length, news]);
  }
});

test('a change of thousands of lines is still answered at once', () => {
  const many = (word: string): string[] => Array.from({ length: 5000 }, (_, i) => `${word} ${i}`);
  expect(diffLines(many('a'), many('b'))).toHaveLength(10_000);
});
