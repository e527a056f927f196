/** A line across the column: something happened to the conversation itself. */
export function Rule({ children }: { children: React.ReactNode }): React.JSX.Element {
  return (
    <div className="ac-rule">
      <span>{children}</span>
    </div>
  );
}
