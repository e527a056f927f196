/** What a tool call shows when it is open, by its kind. */
import type { AskPart, ToolPart } from '../../state/view';
import { useTrans } from '../common/trans';
import { VisibleText } from '../common/VisibleText';
import { isWholeCommand, type Subject } from './describe';
import { DiffList } from './DiffList';
import { HitList } from './HitList';
import { OtherBlocks } from './OtherBlocks';
import { readHits } from './hits';
import { otherBlocks, outputText } from './output';
import { OutputText } from './OutputText';

export interface IToolBodyProps {
  tool: ToolPart;
  subject: Subject;
  ask: AskPart | null;
}

/** The exact command of a shell call, where the line above does not say it all. */
function Command({ command }: { command: string }): React.JSX.Element {
  const trans = useTrans();
  return (
    <pre className="ac-output-text ac-tool-command" role="group" aria-label={trans.__('Command')}>
      <VisibleText text={command} />
    </pre>
  );
}

function RawInput({ tool }: { tool: ToolPart }): React.JSX.Element | null {
  const trans = useTrans();
  const value = tool.input.kind === 'mcp' ? tool.input.arguments : tool.rawInput;
  const empty = value === null || value === undefined || Object.keys(value).length === 0;
  return (
    <>
      <p className="ac-tool-note ac-mono">
        <VisibleText text={tool.name} />
      </p>
      {empty ? null : (
        <OutputText text={JSON.stringify(value, null, 2)} label={trans.__('Input')} />
      )}
    </>
  );
}

function SearchBody({ tool }: { tool: ToolPart }): React.JSX.Element {
  const trans = useTrans();
  const text = outputText(tool);
  const found = readHits(text);
  return found === null ? (
    <OutputText text={text} label={trans.__('Output')} />
  ) : (
    <HitList hits={found.hits} query={tool.input.kind === 'search' ? tool.input.query : ''} />
  );
}

function KindBody({ tool, subject, ask }: IToolBodyProps): React.JSX.Element {
  const trans = useTrans();
  const output = <OutputText text={outputText(tool)} label={trans.__('Output')} />;
  switch (tool.kind) {
    case 'search':
      return <SearchBody tool={tool} />;
    case 'shell':
      return (
        <>
          {tool.input.kind === 'shell' && !isWholeCommand(tool.input, subject) ? (
            <Command command={tool.input.command} />
          ) : null}
          <OutputText text={outputText(tool)} label={trans.__('Output')} end />
        </>
      );
    case 'edit':
    case 'write': {
      const diffs = tool.diffs.length > 0 ? tool.diffs : (ask?.diffs ?? []);
      return diffs.length > 0 && tool.status !== 'failed' ? <DiffList diffs={diffs} /> : output;
    }
    case 'mcp':
    case 'other':
      return (
        <>
          <RawInput tool={tool} />
          {outputText(tool) === '' ? null : <p className="ac-tool-note">{trans.__('Output')}</p>}
          {output}
        </>
      );
    default:
      return output;
  }
}

export function ToolBody(props: IToolBodyProps): React.JSX.Element {
  const trans = useTrans();
  const message = props.ask?.resolution?.message;
  return (
    <>
      <KindBody {...props} />
      <OtherBlocks tool={props.tool} />
      {message ? (
        <p className="ac-tool-note">
          {trans.__('Note to the agent:')} <VisibleText text={message} />
        </p>
      ) : null}
    </>
  );
}

/** Whether there is anything to open. */
export function hasBody({ tool, subject, ask }: IToolBodyProps): boolean {
  const { input } = tool;
  return (
    outputText(tool).trim() !== '' ||
    otherBlocks(tool).length > 0 ||
    tool.diffs.length > 0 ||
    (ask?.diffs.length ?? 0) > 0 ||
    Boolean(ask?.resolution?.message) ||
    input.kind === 'mcp' ||
    input.kind === 'other' ||
    (input.kind === 'shell' && !isWholeCommand(input, subject))
  );
}
