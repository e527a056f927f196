/**
 * What a person has typed, and how it becomes an accepted prompt without ever losing a word.
 *
 * The text leaves the message field when it is sent, so that the next one can be written at once, and comes back when
 * it is refused or no answer comes. Copies of a draft that outlive the page keep it until it was taken
 * (`panel/draftMirror`).
 */
import { ApiError, isRecord, NoAnswer } from '../client/errors';
import type { AgentChatApi } from '../client/rest';
import type { ProjectLoad } from '../protocol/generated';
import { failureOf } from './failure';
import { Outbox } from './outbox';
import type { Outgoing, OutboxDeps } from './outbox';
import type { DraftContent, DraftView, SendOptions, TrustQuestion } from './stores';
import { change, Value } from './value';

export type DraftDeps = {
  readonly api: Pick<AgentChatApi, 'prompt' | 'trust' | 'decideTrust'>;
  readonly newId: () => string;
  readonly expect: OutboxDeps['expect'];
  /** Where a prompt that is sent now will show up. */
  readonly place: (delivery: Outgoing['delivery']) => Outgoing['place'];
};

const BETWEEN = '\n\n';

export class DraftStore {
  readonly view = new Value<DraftView>({
    text: '',
    attachments: [],
    unsent: '',
    sending: false,
    refusal: null,
    trust: null,
  });
  /** The prompts on their way. */
  readonly pending: Outbox['pending'];

  private readonly outbox: Outbox;
  /** Given back without an answer: it may have arrived all the same. */
  private unsure: Outgoing | null = null;
  /** What was given back and still stands at the beginning of the draft. */
  private returned = '';

  constructor(
    chatId: string,
    private readonly deps: DraftDeps,
  ) {
    this.outbox = new Outbox({
      post: body => deps.api.prompt(chatId, body),
      expect: deps.expect,
      onFailed: (prompt, error) => this.onFailed(prompt, error),
      onUnsent: prompts => prompts.forEach(prompt => this.giveBack(prompt)),
    });
    this.pending = this.outbox.pending;
    this.outbox.unsent.subscribe(() => {
      const typed = this.outbox.unsent.getSnapshot().filter(({ fromDraft }) => fromDraft);
      const unsent = typed.map(({ text }) => text).reduce(joined, '');
      change(this.view, { sending: this.outbox.sending, unsent });
    });
  }

  setText(text: string): void {
    change(this.view, { text });
  }

  removeAttachment(id: string): void {
    const { attachments } = this.view.getSnapshot();
    change(this.view, { attachments: attachments.filter(known => known.id !== id) });
  }

  /** Puts another draft into the field; answers what stood there. */
  replace({ text, attachments }: DraftContent): DraftContent {
    const before = this.content();
    this.returned = '';
    change(this.view, { text, attachments: [...attachments] });
    return before;
  }

  /** Puts more behind what stands in the field. */
  append({ text, attachments }: DraftContent): void {
    const now = this.content();
    change(this.view, {
      text: joined(now.text, text),
      attachments: [...now.attachments, ...attachments],
    });
  }

  content(): DraftContent {
    const { text, attachments } = this.view.getSnapshot();
    return { text, attachments };
  }

  /** That the server does not answer is true no longer. */
  onConnected(): void {
    if (this.view.getSnapshot().refusal?.code === 'network') {
      this.dismissRefusal();
    }
  }

  dismissRefusal(): void {
    change(this.view, { refusal: null });
  }

  /** Sends the draft, or `text`. Does nothing when there is nothing to send, or while a trust question is open. */
  async send(text?: string, options: SendOptions = {}): Promise<void> {
    const draft = this.view.getSnapshot();
    const body = text ?? draft.text;
    if (body.trim() === '' || this.outbox.isHolding()) {
      return;
    }
    const delivery = options.delivery ?? 'auto';
    const fromDraft = body === draft.text;
    const again = this.unsure?.text === body && this.unsure.delivery === delivery;
    const prompt: Outgoing = {
      clientId: again && this.unsure ? this.unsure.clientId : this.deps.newId(),
      text: body,
      attachments: fromDraft ? draft.attachments : (options.attachments ?? []),
      place: this.deps.place(delivery),
      delivery,
      fromDraft,
    };
    if (fromDraft) {
      this.returned = '';
      change(this.view, { text: '', attachments: [] });
    }
    this.unsure = null;
    change(this.view, { refusal: null });
    await this.outbox.send(prompt);
  }

  /** Decides on the project, then sends the prompts that wait. What went wrong stands in the question. */
  async decideTrust(trusted: boolean): Promise<void> {
    const { trust } = this.view.getSnapshot();
    if (!trust || !this.outbox.isHolding() || trust.deciding) {
      return;
    }
    this.setTrust({ ...trust, deciding: true, failure: null });
    try {
      await this.deps.api.decideTrust(trust.path, { trusted, digest: trust.digest });
    } catch (error) {
      const now = await this.lookAgain(trust, error);
      if (this.outbox.isHolding()) {
        this.setTrust({ ...trust, ...now, deciding: false, failure: failureOf(error) });
      }
      return;
    }
    if (this.outbox.isHolding()) {
      this.setTrust(null);
      change(this.view, { refusal: null });
      await this.outbox.release();
    }
  }

  cancelTrust(): void {
    const held = this.outbox.takeHeld();
    this.setTrust(null);
    held.forEach(prompt => this.giveBack(prompt));
  }

  /** The log or the queue has these prompts: they are not on their way any more. */
  arrived(has: (clientId: string) => boolean): void {
    this.outbox.arrived(has);
    const { unsure } = this;
    if (unsure && has(unsure.clientId)) {
      this.unsure = null;
      change(this.view, {
        text: without(this.view.getSnapshot().text, unsure.text),
        refusal: null,
      });
    }
  }

  /** True while `arrived` has something to find. */
  get waiting(): boolean {
    return this.pending.getSnapshot().length > 0 || this.unsure !== null;
  }

  private onFailed(prompt: Outgoing, error: unknown): 'hold' | 'drop' {
    const question = questionOf(error);
    if (question) {
      this.setTrust(question);
      return 'hold';
    }
    this.giveBack(prompt);
    this.unsure = error instanceof NoAnswer ? prompt : null;
    change(this.view, { refusal: failureOf(error) });
    return 'drop';
  }

  /** Several come back in the order in which they were sent, before what was typed meanwhile. */
  private giveBack(prompt: Outgoing): void {
    const { text, attachments } = this.view.getSnapshot();
    if (text !== '' && !prompt.fromDraft) {
      return;
    }
    const before = text.startsWith(this.returned) ? this.returned : '';
    const typed = without(text, before);
    this.returned = joined(before, prompt.text);
    change(this.view, {
      text: joined(this.returned, typed),
      attachments: [...prompt.attachments, ...attachments],
    });
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

function joined(first: string, second: string): string {
  return [first, second].filter(text => text !== '').join(BETWEEN);
}

/** The text without what it begins with. */
function without(text: string, beginning: string): string {
  if (beginning === '' || text === beginning) {
    return beginning === '' ? text : '';
  }
  return text.startsWith(beginning + BETWEEN)
    ? text.slice(beginning.length + BETWEEN.length)
    : text;
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
