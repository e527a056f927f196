/** What to say about an installed or missing agent, and the exact next command; pure. */
import type { Provider } from '../../protocol/generated';
import type { Trans } from '../common/trans';
import type { IconName } from '../icons';

export interface IAgentState {
  icon: IconName;
  words: string;
  /** To be run in a terminal; null when there is nothing to do. */
  command: string | null;
  /** Its state may change outside of JupyterLab: offer to look again. */
  recheck: boolean;
}

function toDo(icon: IconName, words: string, command: string | null, trans: Trans): IAgentState {
  const sentence = command ? `${words} ${trans.__('Run this in a terminal:')}` : words;
  return { icon, words: sentence, command, recheck: true };
}

export function agentState(provider: Provider, trans: Trans): IAgentState {
  const { reason, version, install_hint, sign_in_hint } = provider;
  switch (provider.state) {
    case 'probing':
      return { icon: 'search', words: trans.__('Looking for it…'), command: null, recheck: false };
    case 'ready': {
      const words = provider.account
        ? trans.__('Ready. Account: %1', provider.account.label)
        : trans.__('Ready');
      return { icon: 'check', words, command: null, recheck: false };
    }
    case 'untested': {
      const words = trans.__(
        'Ready. Version %1 has not been tested with this panel.',
        version ?? '?',
      );
      return { icon: 'info', words, command: null, recheck: false };
    }
    case 'missing':
      return toDo('download', trans.__('Not installed.'), install_hint, trans);
    case 'signed_out':
      return toDo('key', trans.__('Not signed in.'), sign_in_hint, trans);
    case 'too_old': {
      const { min_version } = provider;
      const words =
        version && min_version
          ? trans.__('%1 is too old, %2 or newer is needed.', version, min_version)
          : (reason ?? trans.__('Too old.'));
      return toDo('warning', words, install_hint, trans);
    }
    case 'refused_by_policy':
      return {
        icon: 'denied',
        words: reason ?? trans.__('Switched off by the administrator of this server.'),
        command: null,
        recheck: false,
      };
    case 'error':
      return toDo('error', reason ?? trans.__('It does not answer.'), null, trans);
  }
}
