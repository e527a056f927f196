/** Events as the wire has them, for tests: only what a test is about need be said. */
import type { ChatEvent, ToolUseStartEvent } from '../protocol/generated';

type Of<T extends ChatEvent['type']> = Extract<ChatEvent, { type: T }>;
type Said<T extends ChatEvent['type']> = Partial<Omit<Of<T>, 'type' | 'seq'>>;

/** Writes events with rising seqs, one second apart; `run` is the run that they belong to. */
export class EventWriter {
  readonly events: ChatEvent[] = [];
  run: string | null = null;
  private seq = 0;

  /** Adds an event of any type as it is, `seq` and `time` filled in. */
  add<T extends ChatEvent>(body: Omit<T, 'seq' | 'time' | 'run_id' | 'chat_id'> & Partial<T>): T {
    this.seq += 1;
    const time = new Date(Date.UTC(2026, 0, 1) + this.seq * 1000).toISOString();
    const event = { chat_id: null, run_id: this.run, time, ...body, seq: this.seq };
    this.events.push(event as unknown as ChatEvent);
    return event as unknown as T;
  }

  /** A hole, as the server leaves it when it drops deltas. */
  skip(): number {
    this.seq += 1;
    return this.seq;
  }

  begin(run: string, text = 'hello', said: Said<'user'> = {}): Of<'user'> {
    this.run = run;
    const user = this.user(text, said);
    this.add<Of<'run_started'>>({
      type: 'run_started',
      provider: 'tour',
      model: 'guide',
      effort: null,
      service_tier: null,
      mode: 'code',
      permission: 'ask',
      continuation: 'fresh',
      cwd: '/project',
      origin: 'prompt',
    });
    this.add<Of<'session'>>({
      type: 'session',
      provider: 'tour',
      provider_session_id: 's1',
      model: null,
    });
    return user;
  }

  user(text: string, said: Said<'user'> = {}): Of<'user'> {
    return this.add<Of<'user'>>({
      type: 'user',
      text,
      attachments: [],
      author: { username: 'owner', name: 'Owner' },
      client_id: `client-${this.seq + 1}`,
      origin: 'typed',
      ...said,
    });
  }

  delta(item_id: string, delta: string, type: 'assistant_text' | 'thinking' = 'assistant_text') {
    return this.add<Of<'assistant_text'>>({
      type: type as 'assistant_text',
      item_id,
      delta,
      final: false,
      text: null,
      first_seq: null,
    });
  }

  final(
    item_id: string,
    text: string,
    first_seq: number | null = null,
    type: 'assistant_text' | 'thinking' = 'assistant_text',
  ) {
    return this.add<Of<'assistant_text'>>({
      type: type as 'assistant_text',
      item_id,
      delta: null,
      final: true,
      text,
      first_seq,
    });
  }

  toolStart(tool_id: string, said: Partial<ToolUseStartEvent> = {}): ToolUseStartEvent {
    return this.add<ToolUseStartEvent>({
      type: 'tool_use_start',
      tool_id,
      parent_tool_id: null,
      name: 'Bash',
      kind: 'shell',
      title: 'ls',
      input: { kind: 'shell', command: 'ls', cwd: null, background: false },
      raw_input: { command: 'ls' },
      ...said,
    });
  }

  toolUpdate(tool_id: string, output_delta: string | null, title: string | null = null) {
    return this.add<Of<'tool_use_update'>>({
      type: 'tool_use_update',
      tool_id,
      output_delta,
      title,
      input: null,
    });
  }

  toolEnd(tool_id: string, said: Said<'tool_use_end'> = {}): Of<'tool_use_end'> {
    return this.add<Of<'tool_use_end'>>({
      type: 'tool_use_end',
      tool_id,
      status: 'completed',
      is_error: false,
      output: [{ type: 'text', text: 'done' }],
      diffs: [],
      exit_code: 0,
      duration_ms: 5,
      ...said,
    });
  }

  ask(ask_id: string, tool_id: string | null = null, said: Said<'ask'> = {}): Of<'ask'> {
    return this.add<Of<'ask'>>({
      type: 'ask',
      ask_id,
      kind: 'permission',
      tool_id,
      title: 'Run ls?',
      detail: '',
      input: null,
      diffs: [],
      options: [
        { id: 'once', label: 'Allow once', decision: 'allow', scope: 'once', leads_to: null },
      ],
      questions: [],
      plan: null,
      ...said,
    });
  }

  askResolved(ask_id: string, said: Said<'ask_resolved'> = {}): Of<'ask_resolved'> {
    return this.add<Of<'ask_resolved'>>({
      type: 'ask_resolved',
      ask_id,
      decision: 'allow',
      option_id: 'once',
      answers: null,
      message: null,
      by: { username: 'owner', name: 'Owner' },
      ...said,
    });
  }

  notice(text: string): Of<'notice'> {
    return this.add<Of<'notice'>>({ type: 'notice', level: 'info', code: 'note', text });
  }

  plan(...texts: string[]): Of<'plan'> {
    const entries = texts.map(text => ({ text, status: 'pending' as const }));
    return this.add<Of<'plan'>>({ type: 'plan', entries });
  }

  usage(output_tokens: number): Of<'usage'> {
    return this.add<Of<'usage'>>({ type: 'usage', ...noUsage, output_tokens });
  }

  complete(outcome: Of<'complete'>['outcome'] = 'completed'): Of<'complete'> {
    const event = this.add<Of<'complete'>>({
      type: 'complete',
      outcome,
      usage: null,
      cost_usd: null,
      duration_ms: 1000,
      num_turns: 1,
    });
    this.run = null;
    return event;
  }

  rewound(from_seq: number, to_seq: number): Of<'rewound'> {
    const files = { files_restored: [], files_kept: [] };
    return this.add<Of<'rewound'>>({
      type: 'rewound',
      from_seq,
      to_seq,
      method: 'native',
      ...files,
    });
  }
}

const noUsage = {
  input_tokens: null,
  output_tokens: null,
  cache_read_tokens: null,
  cache_write_tokens: null,
  reasoning_tokens: null,
  context_used: null,
  context_window: null,
  cost_usd: null,
};
