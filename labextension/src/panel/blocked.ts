/** Why nothing can be sent now, and what to do about it. */
import type { Trans } from '../components/common/trans';
import type { Provider } from '../protocol/generated';
import type { ProvidersView, RunView, TrustQuestion } from '../state/stores';

/** Null when there is nothing against sending to this agent. */
export function agentBlocked(
  view: ProvidersView,
  provider: Provider | undefined,
  trans: Trans,
): string | null {
  // one that is still being looked at is not held back: the server finds out when it starts it
  if (provider?.available || provider?.state === 'probing') {
    return null;
  }
  const looking = view.providers.some(known => known.state === 'probing');
  if (!provider && (looking || view.state !== 'ready')) {
    return trans.__('Still looking for agents. One moment.');
  }
  if (!provider) {
    return trans.__('No agent is ready. Set one up, or take the tour.');
  }
  return provider.reason ?? trans.__('%1 is not ready.', provider.name);
}

/** Why no prompt can go to this run; while an agent works, prompts go into the queue. */
export function runBlocked(run: RunView, agent: string, trans: Trans): string | null {
  if (run.remote) {
    return trans.__('This chat is running on another server. Wait until it has finished.');
  }
  return run.stopping !== null || run.phase === 'cancelling'
    ? trans.__('%1 is stopping. Your message stays here.', agent)
    : null;
}

/** Why a chat cannot be rewound now. */
export function rewindBlocked(run: RunView, online: boolean, trans: Trans): string | null {
  if (!online) {
    return trans.__('The Jupyter server does not answer.');
  }
  if (run.remote) {
    return trans.__('Another server runs this chat.');
  }
  return run.running ? trans.__('Stop the agent first, then rewind.') : null;
}

export function trustBlocked(trust: TrustQuestion | null, trans: Trans): string | null {
  return trust ? trans.__('Decide first whether you trust this project.') : null;
}
