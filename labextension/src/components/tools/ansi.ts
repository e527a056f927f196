/**
 * Terminal output as styled spans: colours and weights (SGR) are kept, every other escape sequence is dropped,
 * a carriage return starts the line again as on a terminal. Pure; written for output of commands, not for full-screen programs.
 */

/** A colour: one of the 16 of the theme by number, or exact red, green, blue. */
export type AnsiColour = number | readonly [number, number, number];

/** How a span looks. Absent means the default. */
export interface IAnsiStyle {
  fg?: AnsiColour;
  bg?: AnsiColour;
  bold?: true;
  dim?: true;
  italic?: true;
  underline?: true;
  inverse?: true;
}

/** A run of text in one style; line ends are part of the text. */
export interface IAnsiSpan {
  text: string;
  style: IAnsiStyle;
}

// CSI, OSC and other string sequences (ended by BEL or ST, or unfinished at the end), then two-character escapes
const ESCAPE =
  // eslint-disable-next-line no-control-regex -- terminal output is made of control characters
  /(?:\u001b\[|\u009b)([0-9:;<=>?]*)[ -/]*([@-~])|\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\|$)|\u001b(?:\[[0-9:;<=>?]*[ -/]*$|[ -/]*[0-~]|$)/g;

const LEVELS = [0, 95, 135, 175, 215, 255];

function paletteColour(index: number): AnsiColour | undefined {
  if (index < 16) {
    return index;
  }
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10;
    return index < 256 ? [grey, grey, grey] : undefined;
  }
  const cube = index - 16;
  const level = (n: number): number => LEVELS[n % 6] ?? 0;
  return [level(Math.floor(cube / 36)), level(Math.floor(cube / 6)), level(cube)];
}

/** The colour after a 38 or 48 at `at`, and how many codes it takes. */
function extendedColour(codes: number[], at: number): [AnsiColour | undefined, number] {
  if (codes[at + 1] === 5) {
    return [paletteColour(codes[at + 2] ?? 0), 2];
  }
  if (codes[at + 1] === 2) {
    const [red = 0, green = 0, blue = 0] = codes.slice(at + 2, at + 5).map(n => Math.min(255, n));
    return [[red, green, blue], 4];
  }
  return [undefined, 0];
}

function applyCode(style: IAnsiStyle, code: number): IAnsiStyle {
  const { fg, bg, bold, dim, italic, underline, inverse } = style;
  switch (code) {
    case 0:
      return {};
    case 1:
      return { ...style, bold: true };
    case 2:
      return { ...style, dim: true };
    case 3:
      return { ...style, italic: true };
    case 4:
      return { ...style, underline: true };
    case 7:
      return { ...style, inverse: true };
    case 22:
      return compact({ fg, bg, italic, underline, inverse });
    case 23:
      return compact({ fg, bg, bold, dim, underline, inverse });
    case 24:
      return compact({ fg, bg, bold, dim, italic, inverse });
    case 27:
      return compact({ fg, bg, bold, dim, italic, underline });
    case 39:
      return compact({ bg, bold, dim, italic, underline, inverse });
    case 49:
      return compact({ fg, bold, dim, italic, underline, inverse });
    default:
      if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) {
        return { ...style, fg: code >= 90 ? code - 82 : code - 30 };
      }
      if ((code >= 40 && code <= 47) || (code >= 100 && code <= 107)) {
        return { ...style, bg: code >= 100 ? code - 92 : code - 40 };
      }
      return style;
  }
}

/** A style without the entries that are off. */
function compact(style: { [K in keyof IAnsiStyle]: IAnsiStyle[K] | undefined }): IAnsiStyle {
  return Object.fromEntries(
    Object.entries(style).filter(([, value]: [string, unknown]) => value !== undefined),
  );
}

function applySgr(style: IAnsiStyle, parameters: string): IAnsiStyle {
  const codes = parameters.split(/[:;]/).map(Number);
  let now = style;
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] ?? 0;
    if (code === 38 || code === 48) {
      const [colour, used] = extendedColour(codes, i);
      if (colour !== undefined) {
        now = { ...now, [code === 38 ? 'fg' : 'bg']: colour };
      }
      i += used;
    } else {
      now = applyCode(now, code);
    }
  }
  return now;
}

/** Collects printed text as spans, the way a terminal's last line works. */
class Screen {
  readonly spans: IAnsiSpan[] = [];

  /** Print `text`; a carriage return takes effect with the next character that is not a line end. */
  print(text: string, style: IAnsiStyle): void {
    for (const part of text.split(/(\r+|\n)/)) {
      if (part.startsWith('\r')) {
        this.#returned = true;
      } else if (part !== '') {
        if (this.#returned && part !== '\n') {
          this.#startLineAgain();
        }
        this.#returned = false;
        this.#write(part, style);
      }
    }
  }

  #write(text: string, style: IAnsiStyle): void {
    const last = this.spans.at(-1);
    if (last?.style === style) {
      last.text += text;
    } else {
      this.spans.push({ text, style });
    }
  }

  #startLineAgain(): void {
    for (let last = this.spans.at(-1); last !== undefined; last = this.spans.at(-1)) {
      const end = last.text.lastIndexOf('\n') + 1;
      if (end > 0) {
        last.text = last.text.slice(0, end);
        return;
      }
      this.spans.pop();
    }
  }

  #returned = false;
}

/** `output` as spans in order; together they hold all its visible text. */
export function parseAnsi(output: string): IAnsiSpan[] {
  const screen = new Screen();
  let style: IAnsiStyle = {};
  let end = 0;
  for (const match of output.matchAll(ESCAPE)) {
    screen.print(output.slice(end, match.index), style);
    if (match[2] === 'm') {
      style = applySgr(style, match[1] ?? '');
    }
    end = match.index + match[0].length;
  }
  screen.print(output.slice(end), style);
  return screen.spans;
}
