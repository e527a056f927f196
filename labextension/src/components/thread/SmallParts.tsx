/** Parts of a turn that are one line, or one note: notices, marks in the conversation, what we do not know. */
import { systemWord } from '../../state/select';
import type {
  ForkedPart,
  NoticePart,
  ResumeRefusedPart,
  RewoundPart,
  SystemPart,
  UnknownPart,
} from '../../state/view';
import { LinkButton } from '../common/Button';
import { useFold, useServices } from '../common/services';
import { useTrans, type Trans } from '../common/trans';
import { VisibleText } from '../common/VisibleText';
import { Icon } from '../icons';
import { useThreadActions } from './actions';
import { Note } from './Note';
import { Rule } from './Rule';

/** Stands for a link inside a sentence, whatever the order of words in a language. */
const MARK = '\u0000';

export function NoticeLine({ part }: { part: NoticePart }): React.JSX.Element {
  const icon = part.level === 'info' ? 'info' : part.level === 'warning' ? 'warning' : 'error';
  return (
    <p className={`ac-notice ac-mod-${part.level}`}>
      <Icon name={icon} />
      <span>
        <VisibleText text={part.text} />
      </span>
    </p>
  );
}

/** A disclosure with a text below, for reasons that few people want to read. */
function Details({ id, text }: { id: string; text: string }): React.JSX.Element {
  const trans = useTrans();
  const [open, setOpen] = useFold(id, false);
  return (
    <>
      <div className="ac-note-actions">
        <button
          type="button"
          className="ac-link ac-disclosure"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        >
          <Icon name="chevronRight" className="ac-chevron" />
          {trans.__('Details')}
        </button>
      </div>
      {open ? (
        <pre className="ac-note-details">
          <VisibleText text={text} />
        </pre>
      ) : null}
    </>
  );
}

export function ResumeRefused({ part }: { part: ResumeRefusedPart }): React.JSX.Element {
  const trans = useTrans();
  const { names } = useServices();
  return (
    <Note
      kind="info"
      title={trans.__(
        '%1 could not reopen this conversation, so a new one was started.',
        names.agent(part.provider),
      )}
    >
      <p className="ac-note-text">
        {trans.__(
          'It begins with a transcript of the visible messages; older tool output is not part of it.',
        )}
      </p>
      {part.reason === '' ? null : <Details id={`refused:${part.key}`} text={part.reason} />}
    </Note>
  );
}

/** Only what a person should know of; the rest never gets here (`systemWord`). */
export function SystemLine({ part }: { part: SystemPart }): React.JSX.Element | null {
  const trans = useTrans();
  const word = systemWord(part);
  switch (word) {
    case null:
      return null;
    case 'compacted':
      return <Rule>{trans.__('Conversation compacted to save context')}</Rule>;
    case 'review_began':
      return <Rule>{trans.__('Review began')}</Rule>;
    case 'review_ended':
      return <Rule>{trans.__('Review ended')}</Rule>;
    default:
      return (
        <Rule>
          <VisibleText text={word.text} />
        </Rule>
      );
  }
}

/** Where this chat came from, with the way there. */
export function ForkedLine({ part }: { part: ForkedPart }): React.JSX.Element {
  const trans = useTrans();
  const actions = useThreadActions();
  const title = actions?.chatTitle(part.fromChat) ?? null;
  const [before, after] = trans.__('Forked from %1', MARK).split(MARK);
  return (
    <Rule>
      {before}
      {actions === null || title === null ? (
        trans.__('another chat')
      ) : (
        <LinkButton onClick={() => actions.openChat(part.fromChat)}>
          <VisibleText text={title} />
        </LinkButton>
      )}
      {after}
      {' · '}
      {part.kind === 'native'
        ? trans.__('natively: the agent remembers all of it')
        : trans.__('by transcript: the agent gets the visible messages')}
    </Rule>
  );
}

export function RewoundLine({ part }: { part: RewoundPart }): React.JSX.Element {
  const trans = useTrans();
  const words = part.undone ? trans.__('Rewind undone') : trans.__('Rewound to here');
  const memory =
    part.method === 'native'
      ? []
      : [trans.__('by transcript: the agent gets the visible messages')];
  return <Rule>{[words, ...fileCounts(part, trans), ...memory].join(' · ')}</Rule>;
}

/** "2 files restored", "1 file kept"; nothing where there were none. */
export function fileCounts(
  { filesRestored, filesKept }: Pick<RewoundPart, 'filesRestored' | 'filesKept'>,
  trans: Trans,
): string[] {
  const restored = filesRestored.length;
  const kept = filesKept.length;
  return [
    restored === 0 ? '' : trans._n('%1 file restored', '%1 files restored', restored),
    kept === 0 ? '' : trans._n('%1 file kept', '%1 files kept', kept),
  ].filter(words => words !== '');
}

export function UnknownEvent({ part }: { part: UnknownPart }): React.JSX.Element {
  const trans = useTrans();
  return (
    <Note kind="info" title={trans.__('Something this version cannot show: %1', part.eventType)}>
      <Details id={`unknown:${part.key}`} text={JSON.stringify(part.event, null, 2)} />
    </Note>
  );
}
