/**
 * Prompts on their way, sent one after another in the order in which a person wrote them.
 *
 * A prompt keeps its `client_id` over every retry, so that it cannot run twice. What a prompt cannot go past (a trust
 * question) holds those behind it too: they never overtake each other.
 */
import type { PromptAnswer, PromptBody } from '../client/answers';
import { NoAnswer } from '../client/errors';
import type { Attachment, AttachmentRef } from '../protocol/generated';
import type { PendingPrompt } from './stores';
import { Value } from './value';

/** How long to wait before the prompt is sent again when no answer came. */
export const RETRY_MS = [1000, 3000] as const;

export type Outgoing = PendingPrompt & {
  readonly delivery: NonNullable<PromptBody['delivery']>;
  /** It was typed into the message field, not sent by a button elsewhere. */
  readonly fromDraft: boolean;
};

export type OutboxDeps = {
  readonly post: (body: PromptBody) => Promise<PromptAnswer>;
  /** What the person sees while sending; another value on the server refuses the prompt. */
  readonly expect: () => PromptBody['expect'];
  /** Says what becomes of a prompt that was not taken: `hold` keeps it and those behind it here. */
  readonly onFailed: (prompt: Outgoing, error: unknown) => 'hold' | 'drop';
  /** Prompts behind one that got no answer: they were never sent. */
  readonly onUnsent: (prompts: readonly Outgoing[]) => void;
};

export class Outbox {
  /** What is shown as on its way: until the log or the queue has it. */
  readonly pending = new Value<readonly PendingPrompt[]>([]);
  /** Not taken by the server yet, held ones included. */
  readonly unsent = new Value<readonly Outgoing[]>([]);
  private line: Outgoing[] = [];
  private held: Outgoing[] = [];
  private pumping: Promise<void> | null = null;

  constructor(private readonly deps: OutboxDeps) {}

  get sending(): boolean {
    return this.line.length > 0;
  }

  /** Resolves when this prompt and those before it were taken, refused or held. */
  send(prompt: Outgoing): Promise<void> {
    this.line.push(prompt);
    this.show(prompt);
    this.tell();
    this.pumping ??= this.pump().finally(() => {
      this.pumping = null;
    });
    return this.pumping;
  }

  /** Sends what was held. */
  async release(): Promise<void> {
    await Promise.all(this.takeHeld().map(prompt => this.send(prompt)));
  }

  /** Gives up what was held; the caller has it now. */
  takeHeld(): Outgoing[] {
    const { held } = this;
    this.held = [];
    this.tell();
    held.forEach(({ clientId }) => this.hide(clientId));
    return held;
  }

  isHolding(): boolean {
    return this.held.length > 0;
  }

  /** The log or the queue has these prompts. */
  arrived(has: (clientId: string) => boolean): void {
    const before = this.pending.getSnapshot();
    const left = before.filter(({ clientId }) => !has(clientId));
    if (left.length < before.length) {
      this.pending.set(left);
    }
  }

  private async pump(): Promise<void> {
    for (let prompt = this.line[0]; prompt !== undefined; prompt = this.line[0]) {
      try {
        this.onTaken(prompt, await this.post(prompt));
        this.line.shift();
      } catch (error) {
        this.line.shift();
        this.onFailed(prompt, error);
      }
      this.tell();
    }
  }

  private onTaken({ clientId }: Outgoing, answer: PromptAnswer | null): void {
    // the frame that shows it in queue or turn is on its way, or came already
    if (answer?.queue_item || answer?.steered) {
      this.hide(clientId);
    }
  }

  private onFailed(prompt: Outgoing, error: unknown): void {
    if (this.deps.onFailed(prompt, error) === 'hold') {
      this.held = [prompt, ...this.line];
      this.line = [];
      this.held.forEach(each => this.show({ ...each, held: true }));
      return;
    }
    this.hide(prompt.clientId);
    if (error instanceof NoAnswer && this.line.length > 0) {
      const unsent = this.line;
      this.line = [];
      unsent.forEach(({ clientId }) => this.hide(clientId));
      this.deps.onUnsent(unsent);
    }
  }

  /** Null when the answer was lost but the prompt was seen to have arrived. */
  private async post(prompt: Outgoing): Promise<PromptAnswer | null> {
    const body = bodyOf(prompt, this.deps.expect() ?? null);
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.deps.post(body);
      } catch (error) {
        const wait = RETRY_MS[attempt];
        const seen = !this.pending.getSnapshot().some(known => known.clientId === prompt.clientId);
        if (seen && error instanceof NoAnswer) {
          return null;
        }
        if (wait === undefined || !(error instanceof NoAnswer)) {
          throw error;
        }
        await new Promise(resolve => setTimeout(resolve, wait));
      }
    }
  }

  private tell(): void {
    this.unsent.set([...this.held, ...this.line]);
  }

  private show({ clientId, text, attachments, place, held }: PendingPrompt): void {
    const shown = held
      ? { clientId, text, attachments, place, held }
      : { clientId, text, attachments, place };
    const before = this.pending.getSnapshot();
    const known = before.some(prompt => prompt.clientId === clientId);
    this.pending.set(
      known
        ? before.map(prompt => (prompt.clientId === clientId ? shown : prompt))
        : [...before, shown],
    );
  }

  private hide(clientId: string): void {
    this.arrived(known => known === clientId);
  }
}

function bodyOf(prompt: Outgoing, expect: PromptBody['expect'] | null): PromptBody {
  const { clientId, text, attachments, delivery } = prompt;
  return {
    client_id: clientId,
    text,
    expect: expect ?? null,
    ...(delivery === 'auto' ? {} : { delivery }),
    ...(attachments.length === 0 ? {} : { attachments: attachments.map(refOf) }),
  };
}

/** Uploads go by their id; what was pointed at is looked up again. */
export function refOf({ id, kind, path, detail }: Attachment): AttachmentRef {
  return kind === 'file' || kind === 'image'
    ? { id, kind: null, path: null, detail: null }
    : { id: null, kind, path, detail };
}
