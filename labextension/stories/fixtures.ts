/** Made-up chats for the story page: what the reducer would hand to the thread. */
import type { Ask, Diff } from '../src/protocol/generated';
import type { AskPart, Part, ToolKind, ToolPart, Turn, UserPart } from '../src/state/view';

let seq = 0;
const base = (key: string) => ({
  key,
  seq: ++seq,
  time: new Date(2026, 10, 30, 14, 2, seq % 60).toISOString(),
});

export function user(
  text: string,
  attachments: [UserPart['attachments'][number]['kind'], string, number][] = [],
): UserPart {
  return {
    ...base(`u${seq}`),
    type: 'user',
    text,
    author: { username: 'owner', name: 'Owner' },
    clientId: `c${seq}`,
    origin: 'typed',
    attachments: attachments.map(([kind, name, size], i) => ({
      id: `a${i}`,
      kind,
      name,
      size,
      path: `/p/${name}`,
      mime: '',
      detail: null,
    })),
  };
}

export const text = (value: string, done = true): Part => ({
  ...base(`t${seq}`),
  type: 'text',
  itemId: `i${seq}`,
  text: value,
  done,
});
export const reasoning = (value: string, done = true): Part => ({
  ...base(`r${seq}`),
  type: 'reasoning',
  itemId: `i${seq}`,
  text: value,
  done,
});

export function tool(
  kind: ToolKind,
  input: object,
  more: Partial<ToolPart> & { out?: string } = {},
): ToolPart {
  const { out, ...rest } = more;
  return {
    ...base(`tool${seq}`),
    type: 'tool',
    toolId: `tool${seq}`,
    parentToolId: null,
    name: kind === 'shell' ? 'Bash' : kind,
    kind,
    title: '',
    input: { kind, ...input } as ToolPart['input'],
    rawInput: null,
    status: 'completed',
    isError: false,
    outputText: '',
    output: out === undefined ? [] : [{ type: 'text', text: out }],
    diffs: [],
    exitCode: null,
    durationMs: 100,
    endTime: new Date(2026, 10, 30, 14, 2, (seq % 60) + 1).toISOString(),
    ...rest,
  };
}
export const read = (
  path: string,
  from: number | null = null,
  to: number | null = null,
): ToolPart =>
  tool(
    'read',
    { path, start_line: from, end_line: to },
    { out: Array.from({ length: 40 }, (_, i) => `line ${i}`).join('\n') },
  );
export const run = (command: string, out: string, more: Partial<ToolPart> = {}): ToolPart =>
  tool(
    'shell',
    { command, cwd: null, background: false },
    { out, exitCode: 0, durationMs: 2400, ...more },
  );

export const PATCH = `--- a/features.py
+++ b/features.py
@@ -18,6 +18,9 @@ def add_calendar
 def add_calendar(df):
     t = df["time"].dt
-    df["hour"] = t.hour
-    df["is_weekend"] = t.dayofweek > 5
-    df["rush"] = df["hour"].isin([7, 8, 17, 18])
+    df["hour"] = t.hour.astype("int8")
+    df["is_weekend"] = t.dayofweek >= 5
+    # Commuters ride on working days only.
+    rush = df["hour"].isin([7, 8, 17, 18])
+    df["rush"] = rush & ~df["is_weekend"]
+    df["hour_of_week"] = t.dayofweek * 24 + t.hour
     return df
@@ -36,3 +39,9 @@ def design_matrix
 def design_matrix(df):
+    """Hours are cyclic, weekends have a cycle."""
     parts = [dummies(df, c) for c in CATEGORICAL]
+    parts += [fourier(df["hour_of_week"], 168, terms=6)]
+    for c in NUMERIC:
+        parts.append(df[c])
     return pd.concat(parts, axis=1)
`;
export const diff = (path: string, patch: string, added: number, removed: number): Diff => ({
  path,
  patch,
  added,
  removed,
  change: 'update',
  old: null,
  new: null,
});

export function turn(userPart: UserPart | null, parts: Part[], more: Partial<Turn> = {}): Turn {
  const key = `turn${++seq}`;
  return {
    key,
    seq,
    runId: key,
    user: userPart,
    agent: {
      seq,
      provider: 'claude',
      model: 'sonnet',
      effort: 'high',
      serviceTier: null,
      mode: 'code',
      permission: 'ask',
      continuation: 'fresh',
      origin: 'prompt',
      time: new Date(2026, 10, 30, 14, 2).toISOString(),
    },
    parts,
    plan: null,
    usage: {
      inputTokens: 48200,
      outputTokens: 3100,
      cacheReadTokens: 41000,
      cacheWriteTokens: null,
      reasoningTokens: null,
      contextUsed: 62000,
      contextWindow: 200000,
      costUsd: null,
    },
    planUsage: null,
    complete: {
      seq,
      outcome: 'completed',
      costUsd: 0.21,
      durationMs: 112000,
      numTurns: 1,
      time: '',
    },
    ...more,
  };
}

export function askPart(about: Partial<AskPart>): AskPart {
  return {
    ...base(`ask${seq}`),
    type: 'ask',
    askId: `ask${seq}`,
    kind: 'permission',
    toolId: null,
    title: 'Claude Code wants to run a command',
    detail: '',
    input: null,
    diffs: [],
    options: OPTIONS,
    questions: [],
    plan: null,
    resolution: null,
    ...about,
  };
}

export const OPTIONS: Ask['options'] = [
  { id: 'once', label: 'Allow once', decision: 'allow', scope: 'once', leads_to: null },
  { id: 'chat', label: 'Allow for this chat', decision: 'allow', scope: 'chat', leads_to: null },
  { id: 'no', label: 'Deny', decision: 'deny', scope: 'once', leads_to: null },
];
export const ask = (about: Partial<Ask>): Ask => ({
  type: 'ask',
  ask_id: `open${++seq}`,
  kind: 'permission',
  tool_id: null,
  title: 'Claude Code wants to run a command',
  detail: '',
  input: null,
  diffs: [],
  options: OPTIONS,
  questions: [],
  plan: null,
  ...about,
});
