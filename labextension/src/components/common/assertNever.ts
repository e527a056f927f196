/** The end of a switch on a union. */

/** Does not compile while a case is missing; at run time a newer server's case is simply not shown. */
export function assertNever(_value: never): null {
  return null;
}
