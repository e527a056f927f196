/** Exactly what an agent asks to do: the command, the change, the address; nothing hidden in it. */
import { forwardRef } from 'react';

import type { Ask, ToolInput } from '../../protocol/generated';
import { useTrans, type Trans } from '../common/trans';
import { VisibleText } from '../common/VisibleText';
import { DiffList } from '../tools/DiffList';
import { LineCounts } from '../tools/LineCounts';

/** What is asked for as plain text; null where diffs or nothing say it. */
function exactText(input: ToolInput | null): string | null {
  switch (input?.kind) {
    case undefined:
    case 'question':
    case 'plan':
    case 'other':
      return null;
    case 'shell':
      return input.command;
    case 'fetch':
      return input.url;
    case 'web_search':
      return input.query;
    case 'read':
    case 'write':
    case 'edit':
      return input.path;
    case 'search':
      return [input.query, input.path, input.glob].filter(Boolean).join('\n');
    case 'notebook':
      return [`${input.op} ${input.path}`, ...input.cells].join('\n');
    case 'subagent':
      return input.description;
    case 'mcp':
      return `${input.server} · ${input.tool}\n${JSON.stringify(input.arguments, null, 2)}`;
  }
}

function nameOf(input: ToolInput | null, trans: Trans): string {
  return input?.kind === 'shell' ? trans.__('Command') : trans.__('What it wants to do');
}

/** Circumstances below the command. */
function Circumstances({ ask }: { ask: Ask }): React.JSX.Element | null {
  const trans = useTrans();
  const { input, diffs } = ask;
  const added = diffs.reduce((sum, diff) => sum + diff.added, 0);
  const removed = diffs.reduce((sum, diff) => sum + diff.removed, 0);
  const shell = input?.kind === 'shell' ? input : null;
  if (diffs.length === 0 && !shell?.cwd && !shell?.background) {
    return null;
  }
  return (
    <div className="ac-ask-context">
      {shell?.cwd ? (
        <span>
          {trans.__('in')}{' '}
          <span className="ac-mono">
            <VisibleText text={shell.cwd} />
          </span>
        </span>
      ) : null}
      {shell?.background ? <span>{trans.__('Runs in the background')}</span> : null}
      {diffs.length === 1 ? (
        <span className="ac-mono">
          <VisibleText text={diffs[0]?.path ?? ''} />
        </span>
      ) : null}
      {diffs.length === 0 ? null : <LineCounts added={added} removed={removed} />}
    </div>
  );
}

/** The ref is the element that may take the focus; it scrolls when it is long. */
export const AskSubject = forwardRef<HTMLDivElement, { ask: Ask }>(function AskSubject(
  { ask },
  ref,
) {
  const trans = useTrans();
  const text = ask.diffs.length > 0 ? null : exactText(ask.input);
  if (text === null && ask.diffs.length === 0) {
    return null;
  }
  return (
    <div className="ac-ask-what">
      <div
        ref={ref}
        className="ac-ask-exact"
        role="group"
        aria-label={ask.diffs.length > 0 ? trans.__('Changes') : nameOf(ask.input, trans)}
        // it scrolls, and the focus may be put here so that a person reads before they answer
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
      >
        {text === null ? (
          <DiffList diffs={ask.diffs} whole />
        ) : (
          <pre>
            <VisibleText text={text} />
          </pre>
        )}
      </div>
      <Circumstances ask={ask} />
    </div>
  );
});
