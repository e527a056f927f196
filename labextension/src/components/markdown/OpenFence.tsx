/** Fenced code that is still being written: plain text, coloured when it closes. */
import { useTrans } from '../common/trans';

/** Looks like a finished code block, so that nothing moves when the fence closes. */
export function OpenFence({ info, code }: { info: string; code: string }): React.JSX.Element {
  const trans = useTrans();
  const language = info.trim().split(/\s+/)[0] ?? '';
  return (
    <div className="ac-block">
      <div className="ac-code">
        <div className="ac-code-bar">
          <span className="ac-grow ac-ellipsis">{language}</span>
          <button type="button" className="ac-link ac-code-copy" data-ac-copy="">
            {trans.__('Copy')}
          </button>
        </div>
        <pre>
          <code>{code}</code>
        </pre>
      </div>
    </div>
  );
}
