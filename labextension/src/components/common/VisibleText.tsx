/** Text that an agent wrote, as text nodes, with hidden characters and padding drawn as marks. */
import { visiblePieces } from './visible';

/** `text` inside the parent's own element; never HTML. */
export function VisibleText({ text }: { text: string }): React.JSX.Element {
  return (
    <>
      {visiblePieces(text).map((piece, index) =>
        'text' in piece ? (
          piece.text
        ) : (
          <span key={index} className="ac-control" title={piece.title}>
            {piece.mark}
          </span>
        ),
      )}
    </>
  );
}
