/** The buttons of an ask, and the keys that press them. Pure. */
import type { AskOption } from '../../protocol/generated';
import type { Trans } from '../common/trans';

export type AskButton = {
  readonly option: AskOption | null;
  readonly decision: 'allow' | 'deny';
  readonly label: string;
  /** What the answer covers beyond this call, exactly as the adapter says it; null when there is nothing to add. */
  readonly covers: string | null;
  /** Y, A or N; null when another button has it. */
  readonly key: string | null;
};

function labelOf(option: AskOption, trans: Trans): string {
  if (option.label !== '') {
    return option.label;
  }
  if (option.decision === 'deny') {
    return trans.__('Deny');
  }
  switch (option.scope) {
    case 'once':
      return trans.__('Allow once');
    case 'chat':
      return trans.__('Allow for this chat');
    case 'project':
      return trans.__('Allow for this project');
    case 'notebook':
      return trans.__('Allow for this notebook');
  }
}

/** "Allow for this chat: pip install" is a button's words, and then what it covers. */
function splitLabel(label: string): [string, string | null] {
  const at = label.indexOf(': ');
  return at === -1 ? [label, null] : [label.slice(0, at), label.slice(at + 2)];
}

function keyOf(option: AskOption): string {
  if (option.decision === 'deny') {
    return 'N';
  }
  return option.scope === 'once' ? 'Y' : 'A';
}

function ownButton(decision: AskButton['decision'], label: string, key: string): AskButton {
  return { option: null, decision, label, covers: null, key };
}

/** Buttons for `options`, allowing ones first. There is always a way to say no, also when the agent names none. */
export function askButtons(options: readonly AskOption[], trans: Trans): AskButton[] {
  const ordered = [
    ...options.filter(option => option.decision === 'allow'),
    ...options.filter(option => option.decision === 'deny'),
  ];
  const taken = new Set<string>();
  const buttons = ordered.map((option): AskButton => {
    const key = keyOf(option);
    const free = !taken.has(key);
    taken.add(key);
    const [label, covers] = splitLabel(labelOf(option, trans));
    return {
      option,
      decision: option.decision,
      label,
      covers,
      key: free ? key : null,
    };
  });
  if (options.length === 0) {
    buttons.push(ownButton('allow', trans.__('Allow once'), 'Y'));
  }
  if (!taken.has('N')) {
    buttons.push(ownButton('deny', trans.__('Deny'), 'N'));
  }
  return buttons;
}

/** What is wanted of a key: nothing while a modifier is down, a key is held, or text is typed. */
export function readKey(event: React.KeyboardEvent): string | null {
  const { target } = event;
  const typing =
    target instanceof HTMLElement &&
    (target.matches('textarea, select, input:not([type=checkbox], [type=radio])') ||
      target.isContentEditable);
  return event.repeat || event.ctrlKey || event.metaKey || event.altKey || typing
    ? null
    : event.key.toUpperCase();
}
