/** Terminal output with its colours, as text nodes in spans. */
import { memo, useMemo } from 'react';

import { VisibleText } from '../common/VisibleText';
import { parseAnsi, type AnsiColour, type IAnsiStyle } from './ansi';

/** Exact colours are mixed with the text colour, so that they can be read in any theme. */
function exact(colour: AnsiColour | undefined, share: number): string | undefined {
  return colour === undefined || typeof colour === 'number'
    ? undefined
    : `color-mix(in srgb, rgb(${colour.join(' ')}) ${share}%, var(--jp-ui-font-color0))`;
}

function classesOf(style: IAnsiStyle): string {
  const { fg, bg } = style;
  return [
    typeof fg === 'number' ? `ac-ansi-fg-${fg}` : '',
    typeof bg === 'number' ? `ac-ansi-bg-${bg}` : '',
    style.bold ? 'ac-ansi-bold' : '',
    style.dim ? 'ac-ansi-dim' : '',
    style.italic ? 'ac-ansi-italic' : '',
    style.underline ? 'ac-ansi-underline' : '',
    style.inverse ? 'ac-ansi-inverse' : '',
  ]
    .filter(Boolean)
    .join(' ');
}

function inlineOf(style: IAnsiStyle): React.CSSProperties | undefined {
  const color = exact(style.fg, 60);
  const backgroundColor =
    style.bg === undefined || typeof style.bg === 'number'
      ? undefined
      : `color-mix(in srgb, rgb(${style.bg.join(' ')}) 30%, transparent)`;
  return color === undefined && backgroundColor === undefined
    ? undefined
    : { color, backgroundColor };
}

export const AnsiText = memo(function AnsiText({ text }: { text: string }) {
  const spans = useMemo(() => parseAnsi(text), [text]);
  return (
    <>
      {spans.map((span, index) => {
        const classes = classesOf(span.style);
        const inline = inlineOf(span.style);
        return classes === '' && inline === undefined ? (
          <VisibleText key={index} text={span.text} />
        ) : (
          <span key={index} className={classes} style={inline}>
            <VisibleText text={span.text} />
          </span>
        );
      })}
    </>
  );
});
