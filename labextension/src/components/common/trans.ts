/** The translator of our words, for any component below `TransContext`. */
import type { TranslationBundle } from '@jupyterlab/translation';
import { createContext, useContext } from 'react';

/** What components call: `__('Stop')`, `_n('%1 file', '%1 files', count)` (`%1` is the count). */
export type Trans = Pick<TranslationBundle, '__' | '_n'>;

/** The domain that language packs use for us. */
export const TRANSLATION_DOMAIN = 'jupyter_agentchat';

function fill(text: string, values: readonly unknown[]): string {
  return text.replace(/%(\d+)/g, (_, place: string) => String(values[Number(place) - 1]));
}

/** English as written; spares a component test the import of JupyterLab's services. */
export const english: Trans = {
  __: (text, ...values: unknown[]) => fill(text, values),
  _n: (one, many, count, ...values: unknown[]) =>
    fill(count === 1 ? one : many, [count, ...values]),
};

export const TransContext = createContext<Trans>(english);

export function useTrans(): Trans {
  return useContext(TransContext);
}
