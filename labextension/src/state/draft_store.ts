/**
 * From a draft to an accepted prompt, without ever losing a word.
 *
 * The text leaves the draft when it is sent and comes back when it is refused or no answer comes. A prompt keeps its
 * `client_id` over every retry, so that it cannot run twice: not after a lost answer, not after a trust question.
 */
import type { PromptBody } from '../client/answers';
import { ApiError, isRecord, NoAnswer } from '../client/errors';
import type { AgentChatApi } from '../client/rest';
import type { ProjectLoad } from '../protocol/generated';
import { failureOf } from './failure';
import type { DraftView, PendingPrompt, TrustQuestion } from './stores';
import { change, Value } from './value';

/** How long to wait before the prompt is sent again when no answer came. */
export const RETRY_MS = [1000, 3000] as const;

type Held = PendingPrompt & { readonly fromDraft: boolean };

export type DraftDeps = {
  readonly api: Pick<AgentChatApi, 'prompt' | 'trust' | 'decideTrust'>;
  readonly newId: () => string;
  /** What the person sees while sending; another value on the server refuses the prompt. */
  readonly expect: () => PromptBody['expect'];
};

export class DraftStore {
  readonly view = new Value<DraftView>({ text: '', sending: false, refusal: null, trust: null });
  /** The prompt on its way, shown in the thread. */
  readonly pending = new Value<PendingPrompt | null>(null);

  /** Waits for the trust decision. */
  private held: Held | null = null;
  /** Given back without an answer: it may have arrived all the same. */
  private unsure: PendingPrompt | null = null;

  constructor(
    private readonly chatId: string,
    private readonly deps: DraftDeps,
  ) {}

  setText(text: string): void {
    change(this.view, { text });
  }

  dismissRefusal(): void {
    change(this.view, { refusal: null });
  }

  /** Sends the draft, or `text`. Does nothing when there is nothing to send or a prompt is on its way already. */
  async send(text?: string): Promise<void> {
    const draft = this.view.getSnapshot();
    const body = text ?? draft.text;
    if (body.trim() === '' || draft.sending || this.held !== null) {
      return;
    }
    const fromDraft = body === draft.text;
    const again = this.unsure?.text === body ? this.unsure.clientId : null;
    const prompt = { clientId: again ?? this.deps.newId(), text: body, fromDraft };
    if (fromDraft) {
      change(this.view, { text: '' });
    }
    this.unsure = null;
    await this.deliver(prompt);
  }

  /** Decides on the project, then sends the prompt that waits. What went wrong stands in the question. */
  async decideTrust(trusted: boolean): Promise<void> {
    const { trust } = this.view.getSnapshot();
    const { held } = this;
    if (!trust || !held || trust.deciding) {
      return;
    }
    this.setTrust({ ...trust, deciding: true, failure: null });
    try {
      await this.deps.api.decideTrust(trust.path, { trusted, digest: trust.digest });
    } catch (error) {
      const now = await this.lookAgain(trust, error);
      if (this.held === held) {
        this.setTrust({ ...trust, ...now, deciding: false, failure: failureOf(error) });
      }
      return;
    }
    if (this.held === held) {
      this.held = null;
      this.setTrust(null);
      await this.deliver(held);
    }
  }

  cancelTrust(): void {
    const { held } = this;
    this.held = null;
    this.setTrust(null);
    if (held) {
      this.giveBack(held);
    }
  }

  /** The log or the queue has these prompts: they are not on their way any more. */
  arrived(has: (clientId: string) => boolean): void {
    const pending = this.pending.getSnapshot();
    if (pending && has(pending.clientId)) {
      this.pending.set(null);
    }
    const { unsure } = this;
    if (unsure && has(unsure.clientId)) {
      this.unsure = null;
      const { text } = this.view.getSnapshot();
      change(this.view, { text: text === unsure.text ? '' : text, refusal: null });
    }
  }

  /** True while `arrived` has something to find. */
  get waiting(): boolean {
    return this.pending.getSnapshot() !== null || this.unsure !== null;
  }

  private async deliver(prompt: Held): Promise<void> {
    const { clientId, text } = prompt;
    this.pending.set({ clientId, text });
    change(this.view, { sending: true, refusal: null });
    try {
      await this.post(clientId, text);
    } catch (error) {
      this.onRefused(prompt, error);
    } finally {
      change(this.view, { sending: false });
    }
  }

  private async post(client_id: string, text: string): Promise<void> {
    const body: PromptBody = { client_id, text, expect: this.deps.expect() ?? null };
    for (let attempt = 0; ; attempt++) {
      try {
        await this.deps.api.prompt(this.chatId, body);
        return;
      } catch (error) {
        const wait = RETRY_MS[attempt];
        const seen = this.pending.getSnapshot()?.clientId !== client_id;
        if (seen && error instanceof NoAnswer) {
          // the answer was lost, the prompt was not
          return;
        }
        if (wait === undefined || !(error instanceof NoAnswer)) {
          throw error;
        }
        await new Promise(resolve => setTimeout(resolve, wait));
      }
    }
  }

  private onRefused(prompt: Held, error: unknown): void {
    const question = questionOf(error);
    if (question) {
      this.held = prompt;
      this.pending.set({ clientId: prompt.clientId, text: prompt.text, held: true });
      this.setTrust(question);
      return;
    }
    this.giveBack(prompt);
    this.unsure = error instanceof NoAnswer ? prompt : null;
    change(this.view, { refusal: failureOf(error) });
  }

  private giveBack(prompt: Held): void {
    this.pending.set(null);
    const { text } = this.view.getSnapshot();
    if (text === '') {
      this.setText(prompt.text);
    } else if (prompt.fromDraft) {
      // something was typed meanwhile: both stay
      this.setText(`${prompt.text}\n\n${text}`);
    }
  }

  private setTrust(trust: TrustQuestion | null): void {
    change(this.view, { trust });
  }

  /** What the project would load by now, when it is not what was asked about. */
  private async lookAgain(
    question: TrustQuestion,
    error: unknown,
  ): Promise<Pick<TrustQuestion, 'digest' | 'loads'> | null> {
    if (!(error instanceof ApiError) || error.code !== 'stale') {
      return null;
    }
    try {
      const { digest, loads } = await this.deps.api.trust(question.path);
      return { digest, loads };
    } catch {
      return null;
    }
  }
}

function questionOf(error: unknown): TrustQuestion | null {
  if (!(error instanceof ApiError) || error.code !== 'not_trusted') {
    return null;
  }
  const { path, digest, loads } = error.details;
  if (typeof path !== 'string' || typeof digest !== 'string') {
    return null;
  }
  const known = (Array.isArray(loads) ? (loads as unknown[]) : []).filter(isLoad);
  return { path, digest, loads: known, deciding: false, failure: null };
}

function isLoad(load: unknown): load is ProjectLoad {
  return (
    isRecord(load) && [load.agent, load.kind, load.path].every(field => typeof field === 'string')
  );
}
