/** Output of a tool as text: a few lines at first, all of it on demand. */
import { useState } from 'react';

import { useTrans } from '../common/trans';
import { AnsiText } from './AnsiText';
import { clipLines, lastCharacters } from './clip';

export interface IOutputTextProps {
  text: string;
  /** Name of the region for assistive technology. */
  label: string;
  /** The end matters more than the beginning, as with commands. */
  end?: boolean;
}

const LINES = 12;

export function OutputText({
  text,
  label,
  end = false,
}: IOutputTextProps): React.JSX.Element | null {
  const trans = useTrans();
  const [all, setAll] = useState(false);
  const clip = clipLines(text, LINES, end);
  if (clip.text === '') {
    return null;
  }
  const showAll =
    clip.hidden === 0
      ? trans.__('Show all')
      : trans._n('Show all (%1 more line)', 'Show all (%1 more lines)', clip.hidden);
  const more = clip.cut ? (
    <button type="button" className="ac-link ac-show-all" onClick={() => setAll(!all)}>
      {all ? trans.__('Show less') : showAll}
    </button>
  ) : null;
  return (
    <div className="ac-output">
      {end ? more : null}
      <pre
        className="ac-output-text"
        role="group"
        aria-label={label}
        // it scrolls when it is long, so the keyboard must reach it
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={all ? 0 : undefined}
      >
        <AnsiText text={all ? lastCharacters(text) : clip.text} />
      </pre>
      {end ? null : more}
    </div>
  );
}
