/** Arguments of commands come from anywhere: taken when they are of the right type, else left out. */
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

export type Args = ReadonlyPartialJSONObject;

export function text(args: Args, name: string): string | undefined {
  const value = args[name];
  return typeof value === 'string' ? value : undefined;
}

export function count(args: Args, name: string): number | undefined {
  const value = args[name];
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

export function flag(args: Args, name: string): boolean | undefined {
  const value = args[name];
  return typeof value === 'boolean' ? value : undefined;
}
