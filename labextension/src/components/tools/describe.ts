/** A tool call in words: its kind, what it is about, and what a group of calls did. */
import type { ToolInput } from '../../protocol/generated';
import type { ToolKind, ToolPart } from '../../state/view';
import type { Trans } from '../common/trans';
import type { IconName } from '../icons';

export const KIND_ICONS: Readonly<Record<ToolKind, IconName>> = {
  read: 'file',
  write: 'fileAdd',
  edit: 'edit',
  search: 'search',
  shell: 'terminal',
  fetch: 'globe',
  web_search: 'globe',
  question: 'question',
  plan: 'checklist',
  notebook: 'notebook',
  subagent: 'subagent',
  mcp: 'plug',
  other: 'gear',
};

/** The word before a card's title. */
export function kindWord(kind: ToolKind, trans: Trans): string {
  const words: Record<ToolKind, string> = {
    read: trans.__('Read'),
    write: trans.__('Write'),
    edit: trans.__('Edit'),
    search: trans.__('Search'),
    shell: trans.__('Run'),
    fetch: trans.__('Fetch'),
    web_search: trans.__('Search the web'),
    question: trans.__('Question'),
    plan: trans.__('Plan'),
    notebook: trans.__('Notebook'),
    subagent: trans.__('Subagent'),
    mcp: trans.__('Tool'),
    other: trans.__('Tool'),
  };
  return words[kind];
}

/** What a call is about. `path` opens in JupyterLab; `code` is drawn in the code font. */
export type Subject =
  | {
      readonly kind: 'path';
      readonly path: string;
      readonly line: number | null;
      readonly text: string;
    }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'words'; readonly text: string };

const words = (text: string): Subject => ({ kind: 'words', text });

function linesOf(input: Extract<ToolInput, { kind: 'read' }>): string {
  if (input.start_line === null) {
    return '';
  }
  return input.end_line === null || input.end_line === input.start_line
    ? `:${input.start_line}`
    : `:${input.start_line}–${input.end_line}`;
}

function searchSubject(input: Extract<ToolInput, { kind: 'search' }>): Subject {
  const place = [input.glob, input.path].filter(part => part !== null && part !== '').join(' ');
  const query = input.query === '' ? '' : `"${input.query}"`;
  return { kind: 'code', text: [query, place].filter(Boolean).join(' · ') };
}

/** The subject of a call with this input; `title` is the agent's own line, used where the input says less. */
export function subjectOf(input: ToolInput, title: string, name: string): Subject {
  switch (input.kind) {
    case 'read':
      return {
        kind: 'path',
        path: input.path,
        line: input.start_line,
        text: input.path + linesOf(input),
      };
    case 'write':
    case 'edit':
      return { kind: 'path', path: input.path, line: null, text: input.path };
    case 'notebook':
      return { kind: 'path', path: input.path, line: null, text: input.path };
    case 'search':
      return searchSubject(input);
    case 'shell':
      return isOwnTitle(title, input.command)
        ? words(title)
        : { kind: 'code', text: input.command.trim().split('\n')[0] ?? '' };
    case 'fetch':
      return { kind: 'code', text: input.url };
    case 'web_search':
      return { kind: 'code', text: input.query };
    case 'subagent':
      return words(input.description || title || name);
    case 'mcp':
      return { kind: 'code', text: `${input.server} · ${input.tool}` };
    case 'question':
    case 'plan':
    case 'other':
      return words(title || name);
  }
}

/** Whether a shell call's title says something besides the command itself. */
function isOwnTitle(title: string, command: string): boolean {
  const bare = title.trim();
  return bare !== '' && !bare.includes(command.trim().split('\n')[0] ?? '') && bare !== 'Bash';
}

/** Whether the whole command of a shell call is already its subject. */
export function isWholeCommand(input: ToolInput, subject: Subject): boolean {
  return input.kind === 'shell' && subject.text === input.command.trim();
}

type Counted =
  | 'read'
  | 'write'
  | 'edit'
  | 'search'
  | 'shell'
  | 'fetch'
  | 'web'
  | 'notebook'
  | 'subagent'
  | 'tool';

const COUNTED: Readonly<Record<ToolKind, Counted>> = {
  read: 'read',
  write: 'write',
  edit: 'edit',
  search: 'search',
  shell: 'shell',
  fetch: 'fetch',
  web_search: 'web',
  notebook: 'notebook',
  subagent: 'subagent',
  question: 'tool',
  plan: 'tool',
  mcp: 'tool',
  other: 'tool',
};

function countWords(what: Counted, n: number, trans: Trans): string {
  switch (what) {
    case 'read':
      return trans._n('read %1 file', 'read %1 files', n);
    case 'write':
      return trans._n('wrote %1 file', 'wrote %1 files', n);
    case 'edit':
      return trans._n('edited %1 file', 'edited %1 files', n);
    case 'search':
      return trans._n('searched once', 'searched %1 times', n);
    case 'shell':
      return trans._n('ran %1 command', 'ran %1 commands', n);
    case 'fetch':
      return trans._n('fetched %1 page', 'fetched %1 pages', n);
    case 'web':
      return trans._n('searched the web once', 'searched the web %1 times', n);
    case 'notebook':
      return trans._n('used %1 notebook', 'used %1 notebooks', n);
    case 'subagent':
      return trans._n('started %1 subagent', 'started %1 subagents', n);
    case 'tool':
      return trans._n('used %1 tool', 'used %1 tools', n);
  }
}

/** "Read 3 files, ran 2 commands", in the order in which the kinds first came; the same file counts once, a denied call not at all. */
export function groupSummary(tools: readonly ToolPart[], trans: Trans): string {
  const seen = new Map<Counted, Set<string>>();
  const done = tools.filter(tool => tool.status !== 'denied');
  if (done.length === 0) {
    return trans._n('%1 call denied', '%1 calls denied', tools.length);
  }
  for (const tool of done) {
    const what = COUNTED[tool.kind];
    const path = 'path' in tool.input && what !== 'search' ? tool.input.path : null;
    const things = seen.get(what) ?? new Set();
    seen.set(what, things.add(path ?? tool.toolId));
  }
  const text = [...seen].map(([what, things]) => countWords(what, things.size, trans)).join(', ');
  return text.charAt(0).toLocaleUpperCase() + text.slice(1);
}
