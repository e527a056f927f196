/** The words of modes, permissions and efforts. */
import type { Chat } from '../../protocol/generated';
import type { Trans } from '../common/trans';

type Mode = Chat['mode'];
type Permission = Chat['permission'];

export function modeWords(mode: Mode, trans: Trans): { label: string; note: string } {
  switch (mode) {
    case 'chat':
      return {
        label: trans.__('Chat'),
        note: trans.__('Talks; changes files only when you ask for it.'),
      };
    case 'plan':
      return { label: trans.__('Plan'), note: trans.__('Reads and proposes a plan first.') };
    case 'code':
      return { label: trans.__('Code'), note: trans.__('Does the work.') };
    case 'review':
      return { label: trans.__('Review'), note: trans.__('Looks for problems, changes nothing.') };
    case 'debug':
      return { label: trans.__('Debug'), note: trans.__('Reproduces, finds the cause, fixes.') };
    case 'full_auto':
      return {
        label: trans.__('Full auto'),
        note: trans.__('Works to the end without asking. Raises the permission.'),
      };
  }
}

export function permissionWords(
  permission: Permission,
  trans: Trans,
): { label: string; note: string } {
  switch (permission) {
    case 'read_only':
      return { label: trans.__('Read only'), note: trans.__('Nothing is changed or run.') };
    case 'ask':
      return { label: trans.__('Ask first'), note: trans.__('Changes and commands wait for you.') };
    case 'accept_edits':
      return {
        label: trans.__('Accept edits'),
        note: trans.__('Files are changed freely, commands wait for you.'),
      };
    case 'full':
      return {
        label: trans.__('Full access'),
        note: trans.__('Changes and commands without asking.'),
      };
  }
}

/** "High effort" for `high`; words that an agent made up are shown as they are. */
export function effortWords(effort: string, trans: Trans): string {
  switch (effort) {
    case 'minimal':
      return trans.__('Minimal effort');
    case 'low':
      return trans.__('Low effort');
    case 'medium':
      return trans.__('Medium effort');
    case 'high':
      return trans.__('High effort');
    case 'xhigh':
      return trans.__('Very high effort');
    case 'max':
      return trans.__('Maximum effort');
    default:
      return trans.__('Effort: %1', effort);
  }
}
