/**
 * A chat's draft on the server, so that another device goes on where this one stopped.
 *
 * What is typed here and what was typed elsewhere never overwrite each other: `base` is the draft of the server that
 * both began from, and when both have changed since, the other one is offered. While the server does not answer, the
 * copy in this browser (`panel/draftMirror`) is all there is; it is sent when the connection is back.
 */
import { ApiError } from '../client/errors';
import type { AgentChatApi } from '../client/rest';
import type { Draft } from '../protocol/generated';
import type { DraftStore } from './draft_store';
import type { DraftBase, DraftContent, IDraftSync, KeptDraft } from './stores';
import { Value } from './value';

/** After the last key, ms. */
export const SAVE_PAUSE_MS = 800;

const NEVER: DraftBase = { revision: 0, text: '' };

export type DraftSyncDeps = {
  readonly api: Pick<AgentChatApi, 'draft' | 'saveDraft'>;
  readonly draft: Pick<DraftStore, 'view' | 'replace'>;
  /** Keeps what stood here when the other draft is taken instead. */
  readonly putAside: (draft: DraftContent) => void;
};

export class DraftSync implements IDraftSync {
  /** The draft of another device, while it is offered. */
  readonly offer = new Value<DraftContent | null>(null);

  readonly saved = new Value<DraftBase>(NEVER);

  private offered: Draft | null = null;
  /** False until the server has told its draft: nothing is sent before. */
  private known = false;
  private followers = 0;
  private working: Promise<void> | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private endListening: (() => void) | null = null;

  constructor(
    private readonly chatId: string,
    private readonly deps: DraftSyncDeps,
  ) {}

  follow(kept: KeptDraft): () => void {
    this.restore(kept);
    this.followers += 1;
    if (this.followers === 1) {
      this.endListening = this.deps.draft.view.subscribe(() => this.onChange());
      void this.refresh();
    }
    let ended = false;
    return () => {
      if (!ended) {
        ended = true;
        this.followers -= 1;
        if (this.followers === 0) {
          this.flush();
          this.endListening?.();
          this.endListening = null;
        }
      }
    };
  }

  private get base(): DraftBase {
    return this.saved.getSnapshot();
  }

  private set base(base: DraftBase) {
    this.saved.set(base);
  }

  kept(): KeptDraft {
    return { text: this.local(), base: this.base };
  }

  flush(last = false): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.followers > 0 || this.endListening !== null) {
      void this.save(last);
    }
  }

  /** Looks for what was typed elsewhere, then sends what was typed here. */
  refresh(): Promise<void> {
    if (this.followers === 0) {
      return Promise.resolve();
    }
    return this.alone(() => this.look());
  }

  useOther(): void {
    const other = this.offered;
    if (other) {
      this.settle(other);
      const mine = this.deps.draft.replace(other);
      if (mine.text.trim() !== '' || mine.attachments.length > 0) {
        this.deps.putAside(mine);
      }
    }
  }

  keepMine(): void {
    if (this.offered) {
      this.settle(this.offered);
      this.flush();
    }
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.endListening?.();
    this.endListening = null;
    this.followers = 0;
  }

  /** From before a reload of the page; what was typed since wins. */
  private restore({ text, base }: KeptDraft): void {
    const { draft } = this.deps;
    const local = this.local();
    if (text === local) {
      this.base = this.known ? this.base : base;
    } else if (local === this.base.text) {
      const { attachments } = draft.view.getSnapshot();
      const server = { ...this.base, attachments: [...attachments] };
      draft.replace({ text, attachments });
      this.base = base;
      if (this.known) {
        this.reconcile(server);
      }
    }
  }

  /** What a copy of the draft holds: prompts on their way are not safe yet. */
  private local(): string {
    const { unsent, text } = this.deps.draft.view.getSnapshot();
    return [unsent, text].filter(part => part !== '').join('\n\n');
  }

  private onChange(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.local() === this.base.text) {
      return;
    }
    // a prompt was taken: no other device must offer it once more
    const pause = this.local() === '' ? 0 : SAVE_PAUSE_MS;
    this.timer = setTimeout(() => this.flush(), pause);
  }

  /** One call after the other. */
  private alone(work: () => Promise<void>): Promise<void> {
    const next = (this.working ?? Promise.resolve()).then(work).catch(() => {
      // it stays in this browser, and is sent with the next change or the next connection
    });
    this.working = next;
    return next;
  }

  private async look(send = true): Promise<void> {
    const server = await this.deps.api.draft(this.chatId);
    if (typeof server.text === 'string') {
      this.known = true;
      this.reconcile(server);
      if (send) {
        await this.put(false, false);
      }
    }
  }

  private save(last: boolean): Promise<void> {
    // a page that is being closed does not wait for the call before
    return last && this.known
      ? this.put(true).catch(() => undefined)
      : this.alone(() => this.put(last));
  }

  /** `again`: looks and sends once more when the draft was changed elsewhere; not for ever. */
  private async put(last: boolean, again = true): Promise<void> {
    const text = this.local();
    if (!this.known || this.offered !== null || text === this.base.text) {
      return;
    }
    const attachments = [...this.deps.draft.view.getSnapshot().attachments];
    const { revision } = this.base;
    try {
      const kept = await this.deps.api.saveDraft(
        this.chatId,
        { text, attachments, revision },
        last,
      );
      this.base = { revision: kept.revision, text };
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'stale') {
        throw error;
      }
      await this.look(again);
    }
  }

  private reconcile(server: Draft): void {
    const local = this.local();
    const { unsent } = this.deps.draft.view.getSnapshot();
    const isMine = unsent !== '' || (local !== '' && local !== this.base.text);
    const changedThere = server.revision !== this.base.revision && server.text !== this.base.text;
    if (local === server.text || !changedThere) {
      this.settle(server);
    } else if (!isMine) {
      this.settle(server);
      this.deps.draft.replace(server);
    } else if (server.text === '') {
      this.settle(server);
    } else {
      this.offered = server;
      this.offer.set({ text: server.text, attachments: server.attachments });
    }
  }

  /** The draft of the server is what the person has seen, or decided on. */
  private settle({ revision, text }: Draft): void {
    this.base = { revision, text };
    this.offered = null;
    this.offer.set(null);
  }
}
