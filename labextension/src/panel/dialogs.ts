/** Questions and failures in JupyterLab's own dialogs. */
import { Dialog, showDialog, showErrorMessage } from '@jupyterlab/apputils';

import type { Trans } from '../components/common/trans';
import type { IDialogs } from './context';

export function createDialogs(trans: Trans): IDialogs {
  return {
    confirmStop: async title => {
      const answer = await showDialog({
        title: trans.__('Stop the agent and delete this chat?'),
        body: trans.__('The agent is at work in “%1”. Its run will be stopped.', title),
        // Enter out of habit must not say yes
        defaultButton: 0,
        buttons: [
          Dialog.cancelButton({ label: trans.__('Cancel') }),
          Dialog.warnButton({ label: trans.__('Stop and delete') }),
        ],
      });
      return answer.button.accept;
    },
    showFailure: (title, words) => void showErrorMessage(title, words),
  };
}
