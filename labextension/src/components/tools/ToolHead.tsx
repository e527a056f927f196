/** The line of a tool call: disclosure, what it is, what it is about (files open), and how it stands. */
import type { AskPart, ToolPart } from '../../state/view';
import { useServices } from '../common/services';
import { useTrans, type Trans } from '../common/trans';
import { visibleString } from '../common/visible';
import { VisibleText } from '../common/VisibleText';
import { Icon } from '../icons';
import { KIND_ICONS, kindWord, type Subject } from './describe';
import { readHits } from './hits';
import { LineCounts } from './LineCounts';
import { outputText } from './output';
import { AskMark, StatusMark } from './ToolMark';

export interface IToolHeadProps {
  tool: ToolPart;
  subject: Subject;
  ask: AskPart | null;
  waiting: boolean;
  live: boolean;
  open: boolean;
  /** Null when there is nothing to open. */
  onToggle: (() => void) | null;
  /** Id of what opens. */
  bodyId: string;
}

function SubjectText({ subject }: { subject: Subject }): React.JSX.Element {
  const mono = subject.kind === 'words' ? '' : ' ac-mono';
  return (
    <span className={`ac-tool-subject ac-ellipsis${mono}`} title={visibleString(subject.text)}>
      <VisibleText text={subject.text} />
    </span>
  );
}

function PathButton({
  subject,
}: {
  subject: Extract<Subject, { kind: 'path' }>;
}): React.JSX.Element {
  const { openFile } = useServices();
  const trans = useTrans();
  return (
    <button
      type="button"
      className="ac-tool-path ac-tool-subject ac-ellipsis ac-mono"
      title={trans.__('Open %1', visibleString(subject.path))}
      onClick={() => openFile(subject.path, subject.line ?? undefined)}
    >
      <VisibleText text={subject.text} />
    </button>
  );
}

/** Counts that say what came of it: changed lines, hits. */
function Figures({ tool }: { tool: ToolPart }): React.JSX.Element | null {
  const trans = useTrans();
  const added = tool.diffs.reduce((sum, diff) => sum + diff.added, 0);
  const removed = tool.diffs.reduce((sum, diff) => sum + diff.removed, 0);
  if (added + removed > 0) {
    return <LineCounts added={added} removed={removed} />;
  }
  const words = tool.kind === 'search' && tool.output !== null ? hitWords(tool, trans) : null;
  return words === null ? null : <span>{words}</span>;
}

function hitWords(tool: ToolPart, trans: Trans): string | null {
  const found = readHits(outputText(tool));
  if (found === null) {
    return null;
  }
  const { hits, files } = found;
  return hits.every(hit => hit.line === null)
    ? trans._n('%1 file', '%1 files', files)
    : trans._n(
        '%1 hit in %2',
        '%1 hits in %2',
        hits.length,
        trans._n('%1 file', '%1 files', files),
      );
}

export function ToolHead(props: IToolHeadProps): React.JSX.Element {
  const { tool, subject, ask, waiting, live, open, onToggle, bodyId } = props;
  const trans = useTrans();
  const word = kindWord(tool.kind, trans);
  const label = (
    <>
      <Icon name={KIND_ICONS[tool.kind]} className="ac-tool-kind" />
      <span className="ac-tool-word">{word}</span>
    </>
  );
  const isPath = subject.kind === 'path';
  return (
    <div className={waiting ? 'ac-tool-head ac-mod-waiting' : 'ac-tool-head'}>
      {onToggle === null ? (
        <span className="ac-tool-label">
          {label}
          {isPath ? null : <SubjectText subject={subject} />}
        </span>
      ) : (
        <button
          type="button"
          className="ac-tool-toggle"
          aria-expanded={open}
          aria-controls={open ? bodyId : undefined}
          onClick={onToggle}
        >
          <Icon name="chevronRight" className="ac-chevron" />
          {label}
          {isPath ? (
            <span className="ac-sr">{visibleString(subject.text)}</span>
          ) : (
            <SubjectText subject={subject} />
          )}
        </button>
      )}
      {isPath ? <PathButton subject={subject} /> : null}
      <span className="ac-tool-meta">
        <AskMark ask={ask} waiting={waiting} />
        {waiting ? null : (
          <>
            <Figures tool={tool} />
            <StatusMark tool={tool} live={live} />
          </>
        )}
      </span>
    </div>
  );
}
