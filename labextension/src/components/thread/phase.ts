/** What the agent is doing, in words. Pure. */
import type { RunView } from '../../state/stores';
import type { ToolKind, ToolPart, Turn } from '../../state/view';
import type { Trans } from '../common/trans';
import { subjectOf } from '../tools/describe';

/** The call that runs now: the newest one without an end. */
export function currentTool(turn: Turn | null): ToolPart | null {
  const found = turn?.parts.findLast(part => part.type === 'tool' && part.status === 'running');
  return found?.type === 'tool' ? found : null;
}

function toolWord(kind: ToolKind, trans: Trans): string {
  const words: Record<ToolKind, string> = {
    read: trans.__('Reading'),
    write: trans.__('Writing'),
    edit: trans.__('Editing'),
    search: trans.__('Searching'),
    shell: trans.__('Running'),
    fetch: trans.__('Fetching'),
    web_search: trans.__('Searching the web'),
    question: trans.__('Asking'),
    plan: trans.__('Planning'),
    notebook: trans.__('Working on'),
    subagent: trans.__('Working on'),
    mcp: trans.__('Using'),
    other: trans.__('Using'),
  };
  return words[kind];
}

export type PhaseWords = { readonly word: string; readonly subject: string | null };

/** "Running" with what, "Thinking", "Waiting for you", ... */
export function phaseWords(
  phase: RunView['phase'],
  tool: ToolPart | null,
  trans: Trans,
): PhaseWords {
  const say = (word: string): PhaseWords => ({ word, subject: null });
  switch (phase) {
    case 'idle':
    case 'starting':
      return say(trans.__('Starting'));
    case 'thinking':
      return say(trans.__('Thinking'));
    case 'writing':
      return say(trans.__('Writing'));
    case 'waiting':
      return say(trans.__('Waiting for you'));
    case 'cancelling':
      return say(trans.__('Stopping…'));
    case 'tool':
      return tool === null
        ? say(trans.__('Using a tool'))
        : {
            word: toolWord(tool.kind, trans),
            subject: subjectOf(tool.input, tool.title, tool.name).text,
          };
  }
}
