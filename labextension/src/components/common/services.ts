/** What the thread, the asks and the plan need of JupyterLab, as one object, so that they import none of it. */
import { createContext, useContext, useSyncExternalStore } from 'react';

import type { IFolds } from '../../state/stores';
import type { IMarkdownRenderer } from '../markdown/renderer';
import type { Highlight } from '../markdown/highlight';

/** Names for people: of agents, models and the reader. */
export interface INames {
  /** "Claude Code" for `claude`; a neutral word for null. */
  agent(this: void, provider: string | null): string;
  /** "Sonnet 4.5" for the provider's model id; the id itself when unknown. */
  model(this: void, provider: string, model: string): string;
  /** User name of the reader: answers by this name are "by you". */
  readonly me: string | null;
}

/** One per open chat; keep the object's identity as long as nothing in it changed. */
export interface IThreadServices {
  readonly names: INames;
  readonly folds: IFolds;
  readonly markdown: IMarkdownRenderer;
  /** Colours code in diffs and read files; null where JupyterLab has no languages. */
  readonly highlight: Highlight | null;
  /** Puts plain text on the clipboard. */
  copyText(this: void, text: string): void;
  /** Opens a file as the agent named it: relative to the chat's project, or absolute. `line` from 1. */
  openFile(this: void, path: string, line?: number): void;
  /** Opens a terminal in the chat's folder; null where there are none. Nothing is typed into it. */
  readonly openTerminal: (() => void) | null;
  /** Address of a large output that is kept beside the log; null where there is none. */
  readonly blobUrl: ((blobId: string) => string) | null;
}

export const ServicesContext = createContext<IThreadServices | null>(null);

export function useServices(): IThreadServices {
  const services = useContext(ServicesContext);
  if (services === null) {
    throw new Error('A thread component stands outside of <ServicesContext.Provider>.');
  }
  return services;
}

/** Whether `key` is open, and a way to change that; kept in the chat's store, not in the element. */
export function useFold(key: string, byDefault: boolean): [boolean, (open: boolean) => void] {
  const { folds } = useServices();
  const open = useSyncExternalStore(folds.subscribe, () => folds.isOpen(key, byDefault));
  return [open, next => folds.set(key, next)];
}
