/** An agent's lettered square: no logos, so that no mark of anybody is shipped. */

/** Where the first letter of the name is that of another agent as well (Claude Code, Gemini CLI). */
const LETTERS: Readonly<Record<string, string>> = { codex: 'X', 'codex-acp': 'X', goose: 'S' };

export interface IProviderMarkProps {
  /** Provider id; null while a chat has none. */
  id: string | null;
  /** The agent's name, read out and shown as the tooltip. */
  name: string;
  /** True where the name stands beside it. */
  decorative?: boolean;
}

export function ProviderMark({ id, name, decorative }: IProviderMarkProps): React.JSX.Element {
  const letter = (id && LETTERS[id]) ?? (name.trim().charAt(0).toLocaleUpperCase() || '?');
  return decorative ? (
    <span className="ac-provider" aria-hidden="true">
      {letter}
    </span>
  ) : (
    <span className="ac-provider" role="img" aria-label={name} title={name}>
      {letter}
    </span>
  );
}
