/** The hits of a search: each opens its file at its line. */
import { useState } from 'react';

import { useServices } from '../common/services';
import { useTrans } from '../common/trans';
import { VisibleText } from '../common/VisibleText';
import { splitAtMatches, type Hit } from './hits';

const LIMIT = 8;

function HitRow({ hit, query }: { hit: Hit; query: string }): React.JSX.Element {
  const { openFile } = useServices();
  const place = hit.line === null ? hit.path : `${hit.path}:${hit.line}`;
  return (
    <li>
      <button
        type="button"
        className="ac-hit"
        onClick={() => openFile(hit.path, hit.line ?? undefined)}
      >
        <span className="ac-hit-place ac-ellipsis ac-mono">
          <VisibleText text={place} />
        </span>
        {hit.text === '' ? null : (
          <code className="ac-hit-text ac-ellipsis ac-mono">
            {splitAtMatches(hit.text.trim(), query).map((piece, index) =>
              index % 2 === 1 ? (
                <mark key={index}>
                  <VisibleText text={piece} />
                </mark>
              ) : (
                <VisibleText key={index} text={piece} />
              ),
            )}
          </code>
        )}
      </button>
    </li>
  );
}

export function HitList({
  hits,
  query,
}: {
  hits: readonly Hit[];
  query: string;
}): React.JSX.Element {
  const trans = useTrans();
  const [all, setAll] = useState(false);
  const shown = all || hits.length <= LIMIT + 1 ? hits : hits.slice(0, LIMIT);
  return (
    <div className="ac-hits">
      <ul className="ac-plain" aria-label={trans.__('Hits')}>
        {shown.map((hit, index) => (
          <HitRow key={index} hit={hit} query={query} />
        ))}
      </ul>
      {shown.length < hits.length ? (
        <button type="button" className="ac-link ac-show-all" onClick={() => setAll(true)}>
          {trans.__('Show all (%1 more)', hits.length - shown.length)}
        </button>
      ) : null}
    </div>
  );
}
