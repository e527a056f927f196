/** Small turns, parts and asks for component tests, and services that note what was asked of them. */
import type { IThreadServices } from '../components/common/services';
import type { IMarkdownRenderer } from '../components/markdown/renderer';
import type { Ask, Question } from '../protocol/generated';
import type { AskPart, TextPart, ToolKind, ToolPart, Turn, UserPart } from '../state/view';

export const TIME = '2026-11-30T14:02:00.000Z';

/** Markdown as plain text, at once. */
export const plainMarkdown: IMarkdownRenderer = {
  peek: source => {
    const nodes = document.createDocumentFragment();
    nodes.append(source);
    return nodes;
  },
  render: source => Promise.resolve(plainMarkdown.peek(source) ?? new DocumentFragment()),
  typeset: () => undefined,
};

export type Noted = { copied: string[]; opened: [string, number | undefined][] };

export function fakeServices(
  changes: Partial<IThreadServices> = {},
): IThreadServices & { noted: Noted } {
  let open: ReadonlyMap<string, boolean> = new Map();
  const listeners = new Set<() => void>();
  const noted: Noted = { copied: [], opened: [] };
  return {
    noted,
    names: { agent: id => id ?? 'Agent', model: (_, model) => model, me: 'owner' },
    folds: {
      subscribe: listener => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      getSnapshot: () => open,
      isOpen: (key, byDefault) => open.get(key) ?? byDefault,
      set: (key, value) => {
        open = new Map(open).set(key, value);
        listeners.forEach(listener => listener());
      },
    },
    markdown: plainMarkdown,
    highlight: null,
    copyText: text => noted.copied.push(text),
    openFile: (path, line) => noted.opened.push([path, line]),
    openTerminal: null,
    blobUrl: null,
    ...changes,
  };
}

export function tool(
  kind: ToolKind,
  input: Record<string, unknown>,
  changes: Partial<ToolPart> & { text?: string } = {},
): ToolPart {
  const { text, ...rest } = changes;
  const toolId = rest.toolId ?? `${kind}-${JSON.stringify(input)}`;
  return {
    type: 'tool',
    key: toolId,
    seq: 2,
    time: TIME,
    toolId,
    parentToolId: null,
    name: kind,
    kind,
    title: '',
    input: { kind, ...input } as ToolPart['input'],
    rawInput: null,
    status: 'completed',
    isError: false,
    outputText: '',
    output: text === undefined ? [] : [{ type: 'text', text }],
    diffs: [],
    exitCode: null,
    durationMs: null,
    endTime: TIME,
    ...rest,
  };
}

export const readFile = (path: string, changes: Partial<ToolPart> = {}): ToolPart =>
  tool('read', { path, start_line: null, end_line: null }, changes);

export const shell = (
  command: string,
  changes: Partial<ToolPart> & { text?: string } = {},
): ToolPart => tool('shell', { command, cwd: null, background: false }, changes);

export const textPart = (text: string, changes: Partial<TextPart> = {}): TextPart => ({
  type: 'text',
  key: `text-${text}`,
  seq: 3,
  time: TIME,
  itemId: text,
  text,
  done: true,
  ...changes,
});

export const userPart = (text: string, changes: Partial<UserPart> = {}): UserPart => ({
  type: 'user',
  key: `user-${text}`,
  seq: 1,
  time: TIME,
  text,
  attachments: [],
  author: { username: 'owner', name: 'Owner' },
  clientId: text,
  origin: 'typed',
  ...changes,
});

export const turn = (changes: Partial<Turn> = {}): Turn => ({
  key: 'run-1',
  seq: 1,
  runId: 'run-1',
  user: userPart('Hello'),
  agent: {
    seq: 2,
    provider: 'Claude Code',
    model: 'sonnet',
    effort: 'high',
    serviceTier: null,
    mode: 'code',
    permission: 'ask',
    continuation: 'fresh',
    origin: 'prompt',
    time: TIME,
  },
  parts: [],
  plan: null,
  usage: null,
  planUsage: null,
  complete: {
    seq: 9,
    outcome: 'completed',
    costUsd: null,
    durationMs: 1500,
    numTurns: null,
    time: TIME,
  },
  ...changes,
});

export const askPart = (changes: Partial<AskPart> = {}): AskPart => ({
  type: 'ask',
  key: 'ask-1',
  seq: 4,
  time: TIME,
  askId: 'ask-1',
  kind: 'permission',
  toolId: null,
  title: 'Run a command',
  detail: '',
  input: null,
  diffs: [],
  options: ask().options,
  questions: [],
  plan: null,
  resolution: null,
  ...changes,
});

export function ask(changes: Partial<Ask> = {}): Ask {
  return {
    type: 'ask',
    ask_id: 'ask-1',
    kind: 'permission',
    tool_id: null,
    title: 'Claude Code wants to run a command',
    detail: 'It needs a package.',
    input: { kind: 'shell', command: 'pip install lightgbm', cwd: null, background: false },
    diffs: [],
    options: [
      { id: 'once', label: 'Allow once', decision: 'allow', scope: 'once', leads_to: null },
      {
        id: 'chat',
        label: 'Allow for this chat',
        decision: 'allow',
        scope: 'chat',
        leads_to: null,
      },
      { id: 'no', label: 'Deny', decision: 'deny', scope: 'once', leads_to: null },
    ],
    questions: [],
    plan: null,
    ...changes,
  };
}

export const question = (changes: Partial<Question> = {}): Question => ({
  id: 'metric',
  header: 'Metric',
  question: 'Which error?',
  multi_select: false,
  secret: false,
  allow_other: true,
  options: [
    { label: 'MAE', description: 'Easy to explain' },
    { label: 'RMSE', description: '' },
  ],
  ...changes,
});
