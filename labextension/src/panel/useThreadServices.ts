/** The services of one chat: names of agents and models, files and terminals of its project. */
import { useMemo } from 'react';

import type { INames, IThreadServices } from '../components/common/services';
import { useTrans, type Trans } from '../components/common/trans';
import type { Chat, Provider } from '../protocol/generated';
import type { IChatStore } from '../state/stores';
import { usePanel } from './context';
import { useReadable } from './readable';

function namesOf(providers: readonly Provider[], me: string | null, trans: Trans): INames {
  const find = (id: string | null) => providers.find(provider => provider.id === id);
  return {
    agent: id => find(id)?.name ?? id ?? trans.__('The agent'),
    model: (id, model) => find(id)?.models.find(known => known.id === model)?.name ?? model,
    me,
  };
}

/** Keeps its identity as long as neither the agents nor the chat's project change. */
export function useThreadServices(store: IChatStore, chat: Chat | null): IThreadServices {
  const { session, host, markdown, highlight } = usePanel();
  const trans = useTrans();
  const { providers } = useReadable(session.providers);
  const me = useReadable(session.connection).user?.username ?? null;
  const project = chat?.project ?? null;
  const names = useMemo(() => namesOf(providers, me, trans), [providers, me, trans]);
  return useMemo<IThreadServices>(
    () => ({
      names,
      folds: store.folds,
      markdown,
      highlight,
      copyText: host.copyText,
      openFile: (path, line) => host.openFile(project, path, line),
      openTerminal: host.openTerminal && (() => host.openTerminal?.(project)),
      blobUrl: blobId => host.blobUrl(store.id, blobId),
    }),
    [names, store, markdown, highlight, host, project],
  );
}
