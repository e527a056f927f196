/** Above the list: search and filters. */
import { useEffect, type RefObject } from 'react';

import type { ListFilter, ListView } from '../../state/stores';
import { useTrans } from '../common/trans';
import { IconButton } from '../common/Button';
import { Icon } from '../icons';
import { filterWords } from './words';

export interface IListToolsProps {
  view: ListView;
  box: RefObject<HTMLInputElement>;
  /** Somebody asked to search: the box takes the focus. */
  wanted: boolean;
  onWanted: () => void;
  /** Down from the box. */
  onDown: () => void;
  onQuery: (query: string) => void;
  onFilter: (filter: ListFilter) => void;
}

/** The archive is another place rather than a filter: it has a button of its own. */
const FILTERS: readonly ListFilter[] = ['all', 'running', 'needs_you', 'unread'];

function countOf(filter: ListFilter, { counts }: ListView): number | null {
  switch (filter) {
    case 'running':
      return counts.running;
    case 'needs_you':
      return counts.needsYou;
    case 'unread':
      return counts.unread;
    case 'all':
    case 'archived':
      return null;
  }
}

export function ListTools(props: IListToolsProps): React.JSX.Element {
  const { view, box, wanted, onWanted, onDown, onQuery, onFilter } = props;
  const trans = useTrans();
  useEffect(() => {
    if (wanted) {
      box.current?.focus();
      box.current?.select();
      onWanted();
    }
  }, [box, onWanted, wanted]);
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.key === 'Escape' && view.query) {
      event.preventDefault();
      event.stopPropagation();
      onQuery('');
    } else if (event.key === 'ArrowDown' && !event.nativeEvent.isComposing) {
      event.preventDefault();
      event.stopPropagation();
      onDown();
    }
  };
  return (
    <>
      <div className="ac-search">
        <Icon name="search" />
        <input
          ref={box}
          type="search"
          aria-label={trans.__('Search chats')}
          placeholder={trans.__('Search chats')}
          value={view.query}
          onChange={event => onQuery(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        {view.query && (
          <IconButton
            icon="close"
            label={trans.__('Clear the search')}
            onClick={() => onQuery('')}
          />
        )}
        <IconButton
          icon="archive"
          label={trans.__('Archived chats')}
          aria-pressed={view.filter === 'archived'}
          onClick={() => onFilter(view.filter === 'archived' ? 'all' : 'archived')}
        />
      </div>
      <div className="ac-filters" role="group" aria-label={trans.__('Filter')}>
        {FILTERS.map(filter => {
          const count = countOf(filter, view);
          return (
            <button
              key={filter}
              type="button"
              className="ac-filter"
              aria-pressed={filter === view.filter}
              onClick={() => onFilter(filter)}
            >
              {filterWords(filter, trans)}
              {count !== null && count > 0 && <span className="ac-num">{count}</span>}
            </button>
          );
        })}
      </div>
    </>
  );
}
