/** First prompts to choose from; Enter in the empty message field takes the first. */
import { useTrans } from '../common/trans';
import { Icon } from '../icons';

export interface ISuggestionsProps {
  texts: readonly string[];
  /** The first one is what Enter sends. */
  enterTakesFirst: boolean;
  disabled: boolean;
  onChoose: (text: string) => void;
}

export function Suggestions(props: ISuggestionsProps): React.JSX.Element {
  const { texts, enterTakesFirst, disabled, onChoose } = props;
  const trans = useTrans();
  return (
    <ul className="ac-suggestions ac-plain" aria-label={trans.__('Suggestions')}>
      {texts.map((text, index) => (
        <li key={text}>
          <button type="button" disabled={disabled} onClick={() => onChoose(text)}>
            <Icon name="chat" />
            <span className="ac-ellipsis ac-grow">{text}</span>
            {index === 0 && enterTakesFirst && (
              <kbd className="ac-key" aria-hidden="true">
                Enter
              </kbd>
            )}
          </button>
        </li>
      ))}
    </ul>
  );
}
