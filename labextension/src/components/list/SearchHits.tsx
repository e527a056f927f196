/** What was said in chats and matches the search: below the rows whose titles match. */
import type { SearchHit } from '../../protocol/generated';
import type { SearchView } from '../../state/stores';
import { Button } from '../common/Button';
import { failureWords } from '../common/failureWords';
import { Spinner } from '../common/Spinner';
import { useTrans, type Trans } from '../common/trans';
import { VisibleText } from '../common/VisibleText';
import { piecesOf } from './snippet';
import { ageWords, chatTitle } from './words';

export interface ISearchHitsProps {
  view: SearchView;
  now: Date;
  /** The hit that Tab goes to; null when it goes to a row. */
  tabStop: string | null;
  onOpen: (hit: SearchHit) => void;
  onMore: () => void;
  onRetry: () => void;
}

/** The server gives no more than this. */
const MOST = 100;

export function hitKey({ chat_id, seq }: SearchHit): string {
  return `${chat_id}:${seq}`;
}

export function SearchHits(props: ISearchHitsProps): React.JSX.Element | null {
  const { view, now, tabStop, onOpen, onMore } = props;
  const trans = useTrans();
  if (view.state === 'idle') {
    return null;
  }
  const name = trans.__('In conversations');
  return (
    <section className="ac-search-hits" aria-label={name} aria-busy={view.state === 'searching'}>
      <h3 className="ac-group-head ac-search-head">
        {name}
        {view.state === 'searching' && <Spinner label={trans.__('Searching')} />}
      </h3>
      <p className="ac-list-note ac-quiet ac-search-state" role="status">
        {stateWords(view, trans)}
      </p>
      {view.state === 'failed' && <SearchFailure {...props} />}
      <ul className="ac-plain" aria-label={name}>
        {view.hits.map(hit => (
          <Hit
            key={hitKey(hit)}
            hit={hit}
            now={now}
            tabbable={hitKey(hit) === tabStop}
            onOpen={onOpen}
          />
        ))}
      </ul>
      {view.more && view.hits.length < MOST && view.state === 'ready' && (
        <Button small kind="plain" className="ac-list-more" onClick={onMore}>
          {trans.__('Show more')}
        </Button>
      )}
    </section>
  );
}

function stateWords({ state, hits, more, query }: SearchView, trans: Trans): string {
  if (state !== 'ready') {
    return '';
  }
  if (hits.length === 0) {
    return trans.__('Nothing that was said matches “%1”.', query);
  }
  return more
    ? trans._n(
        'The latest place. There are others.',
        'The latest %1 places. There are others.',
        hits.length,
      )
    : trans._n('%1 place', '%1 places', hits.length);
}

function SearchFailure({ view, onRetry }: ISearchHitsProps): React.JSX.Element {
  const trans = useTrans();
  return (
    <div className="ac-list-note" role="alert">
      <p>{view.failure ? failureWords(view.failure, trans) : null}</p>
      {view.failure?.code === 'unsupported' ? null : (
        <Button small icon="reload" onClick={onRetry}>
          {trans.__('Try again')}
        </Button>
      )}
    </div>
  );
}

interface IHitProps extends Pick<ISearchHitsProps, 'now' | 'onOpen'> {
  hit: SearchHit;
  tabbable: boolean;
}

function Hit({ hit, now, tabbable, onOpen }: IHitProps): React.JSX.Element {
  const trans = useTrans();
  return (
    <li>
      <button
        type="button"
        className="ac-found"
        data-hit={hitKey(hit)}
        tabIndex={tabbable ? 0 : -1}
        onClick={() => onOpen(hit)}
      >
        <span className="ac-found-head">
          <span className="ac-ellipsis ac-grow">{chatTitle(hit.title, trans)}</span>
          <span className="ac-quiet ac-num">{ageWords(hit.time, now, trans)}</span>
        </span>
        <span className="ac-found-text">
          <span>
            {piecesOf(hit.snippet).map(({ text, match }, index) =>
              match ? (
                <mark key={index}>
                  <VisibleText text={text} />
                </mark>
              ) : (
                <VisibleText key={index} text={text} />
              ),
            )}
          </span>
        </span>
      </button>
    </li>
  );
}
