/** Long output cut to what is worth the room. Pure. */

export type Clip = {
  readonly text: string;
  /** Lines left out. */
  readonly hidden: number;
  /** Whether anything was left out, a part of a long line too. */
  readonly cut: boolean;
};

/** One line longer than this is cut too. */
const LINE_LIMIT = 2_000;

/**
 * `text` without its last line ends, cut to `lines` lines: the last ones when `end`, else the first ones.
 * One line more than `lines` is shown rather than a button that says "1 more".
 */
export function clipLines(text: string, lines: number, end: boolean): Clip {
  const all = text.replace(/\s+$/, '').split('\n');
  const hidden = all.length <= lines + 1 ? 0 : all.length - lines;
  const kept = hidden === 0 ? all : end ? all.slice(hidden) : all.slice(0, lines);
  const long = kept.some(line => line.length > LINE_LIMIT);
  const short = kept.map(line =>
    line.length > LINE_LIMIT ? `${line.slice(0, LINE_LIMIT)} …` : line,
  );
  return { text: short.join('\n'), hidden, cut: hidden > 0 || long };
}

/** `text` cut to `limit` characters from its end, for what is shown in full: a page is no place for megabytes. */
export function lastCharacters(text: string, limit = 200_000): string {
  return text.length <= limit ? text : `… ${text.slice(text.length - limit)}`;
}
