/** The chats of one project: a heading that folds, then a list per day. */
import { useId } from 'react';

import type { Chat } from '../../protocol/generated';
import type { ListGroup as IListGroup } from '../../state/stores';
import { useTrans } from '../common/trans';
import { Icon } from '../icons';
import { labelDays } from './rows';
import { dayWords, groupWords } from './words';

export interface IListGroupProps {
  group: IListGroup;
  rootName: string;
  now: Date;
  open: boolean;
  onToggle: () => void;
  renderRow: (chat: Chat) => React.ReactNode;
}

export function ListGroup(props: IListGroupProps): React.JSX.Element {
  const { group, rootName, now, open, onToggle, renderRow } = props;
  const trans = useTrans();
  const id = useId();
  const name = groupWords(group, rootName, trans);
  const count = group.days.reduce((sum, day) => sum + day.chats.length, 0);
  return (
    <li className="ac-group" aria-label={name}>
      <h3 className="ac-group-head">
        <button
          type="button"
          className="ac-group-toggle"
          aria-expanded={open}
          aria-controls={id}
          onClick={onToggle}
        >
          <Icon name={group.kind === 'pinned' ? 'pin' : open ? 'chevronDown' : 'chevronRight'} />
          <span className="ac-ellipsis">{name}</span>
          {!open && <span className="ac-group-count ac-quiet ac-num">{count}</span>}
        </button>
      </h3>
      <div id={id} hidden={!open}>
        {open &&
          labelDays(group.days, now).map(({ label, chats }) => {
            // pinned chats are few and chosen: days would only tear them apart
            const words = group.kind === 'pinned' ? null : dayWords(label, trans);
            return (
              <div key={label}>
                {words && <div className="ac-day">{words}</div>}
                <ul className="ac-plain" aria-label={words ? `${name}, ${words}` : name}>
                  {chats.map(renderRow)}
                </ul>
              </div>
            );
          })}
      </div>
    </li>
  );
}
