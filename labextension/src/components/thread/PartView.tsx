/** One part of a turn that is not a tool call. */
import type { Part, ToolPart } from '../../state/view';
import { assertNever } from '../common/assertNever';
import { Markdown } from '../markdown/Markdown';
import { AskRecord } from './AskRecord';
import { ErrorBlock } from './ErrorBlock';
import { Reasoning } from './Reasoning';
import {
  ForkedLine,
  NoticeLine,
  ResumeRefused,
  RewoundLine,
  SystemLine,
  UnknownEvent,
} from './SmallParts';
import { messageOf, UserMessage } from './UserMessage';

type OtherPart = Exclude<Part, ToolPart>;

export interface IPartViewProps {
  part: OtherPart;
  /** Its turn is running. */
  live: boolean;
  onRetry: (() => void) | null;
  /** Where a fork of its turn ends. */
  endSeq: number | null;
}

export function PartView(props: IPartViewProps): React.JSX.Element | null {
  const { part, live, onRetry, endSeq } = props;
  switch (part.type) {
    case 'text':
      return (
        <div className="ac-answer" data-ac-part={part.key} aria-busy={live && !part.done}>
          <Markdown text={part.text} done={part.done || !live} />
        </div>
      );
    case 'reasoning':
      return <Reasoning part={part} live={live} />;
    case 'ask':
      return <AskRecord ask={part} live={live} />;
    case 'user':
      return <UserMessage {...messageOf(part)} message={part} endSeq={endSeq} />;
    case 'notice':
      return <NoticeLine part={part} />;
    case 'error':
      return <ErrorBlock part={part} onRetry={onRetry} />;
    case 'system':
      return <SystemLine part={part} />;
    case 'resume_refused':
      return <ResumeRefused part={part} />;
    case 'forked':
      return <ForkedLine part={part} />;
    case 'rewound':
      return <RewoundLine part={part} />;
    case 'unknown':
      return <UnknownEvent part={part} />;
    default:
      return assertNever(part);
  }
}
