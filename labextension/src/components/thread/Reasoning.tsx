/** The agent's reasoning: one line with a live preview, all of it on demand. */
import { memo, useId } from 'react';

import type { ReasoningPart } from '../../state/view';
import { useFold } from '../common/services';
import { useTrans } from '../common/trans';
import { visibleString } from '../common/visible';
import { Icon } from '../icons';
import { Markdown } from '../markdown/Markdown';

const PREVIEW_LENGTH = 200;

/** One line of `text`: the newest while it grows, the first afterwards; without Markdown's marks. */
export function previewLine(text: string, done: boolean): string {
  const lines = text.split('\n').filter(line => line.trim() !== '');
  const line = (done ? lines[0] : lines.at(-1)) ?? '';
  const plain = line
    .trim()
    .replace(/^(?:#+|[-*+]|\d+\.)\s+/, '')
    .replace(/(\*\*|__|`)/g, '');
  return done ? plain.slice(0, PREVIEW_LENGTH) : plain.slice(-PREVIEW_LENGTH);
}

export const Reasoning = memo(function Reasoning({
  part,
  live,
}: {
  part: ReasoningPart;
  live: boolean;
}) {
  const trans = useTrans();
  const [open, setOpen] = useFold(`reasoning:${part.key}`, false);
  const bodyId = useId();
  const done = part.done || !live;
  if (part.text.trim() === '' && done) {
    return null;
  }
  return (
    <div className="ac-reasoning">
      <div className="ac-reasoning-line">
        <button
          type="button"
          className="ac-disclosure"
          aria-expanded={open}
          aria-controls={open ? bodyId : undefined}
          onClick={() => setOpen(!open)}
        >
          <Icon name="chevronRight" className="ac-chevron" />
          {trans.__('Reasoning')}
        </button>
        {open ? null : (
          <span className="ac-ellipsis" aria-hidden="true">
            · {visibleString(previewLine(part.text, done))}
          </span>
        )}
      </div>
      {open ? (
        <div className="ac-reasoning-body" id={bodyId}>
          <Markdown text={part.text} done={done} />
        </div>
      ) : null}
    </div>
  );
});
