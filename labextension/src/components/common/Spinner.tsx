/** Something is going on. */

/** A turning ring; named when `label` is given, else decoration. Stands still with reduced motion. */
export function Spinner({ label }: { label?: string }): React.JSX.Element {
  return label ? (
    <span className="ac-spinner" role="img" aria-label={label} />
  ) : (
    <span className="ac-spinner" aria-hidden="true" />
  );
}
