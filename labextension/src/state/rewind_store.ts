/**
 * Going back to an earlier prompt of a chat, and back again.
 *
 * The rewound prompt returns to the message field; what stood there is saved first and offered back, so no word is
 * lost either way. What was cut and what came back is told by events, here and in other pages.
 */
import type { AgentChatApi } from '../client/rest';
import type { RewindRequest } from '../protocol/generated';
import type { DraftStore } from './draft_store';
import { failureOf } from './failure';
import type { DraftContent, IRewind, RewindOutcome, RewindView } from './stores';
import { change, Value } from './value';

export type RewindDeps = {
  readonly api: Pick<AgentChatApi, 'rewind' | 'undoRewind'>;
  readonly draft: Pick<DraftStore, 'content' | 'replace' | 'append'>;
};

const EMPTY: DraftContent = { text: '', attachments: [] };

export class RewindStore implements IRewind {
  private readonly view = new Value<RewindView>({
    saved: null,
    last: null,
    undoing: false,
    failure: null,
  });
  readonly subscribe = this.view.subscribe;
  readonly getSnapshot = this.view.getSnapshot;

  /** The prompt as it came back: while it stands there unchanged, undoing may take it away again. */
  private restored: DraftContent | null = null;

  constructor(
    private readonly chatId: string,
    private readonly deps: RewindDeps,
  ) {}

  async preview(seq: number): Promise<RewindOutcome> {
    try {
      const request = { seq, files: 'restore', dry_run: true } as const;
      return { ok: true, result: await this.deps.api.rewind(this.chatId, request) };
    } catch (error) {
      return { ok: false, failure: failureOf(error) };
    }
  }

  async rewind(
    seq: number,
    files: RewindRequest['files'],
    overwrite: readonly string[],
  ): Promise<RewindOutcome> {
    try {
      const request = { seq, files, overwrite: [...overwrite], dry_run: false };
      const result = await this.deps.api.rewind(this.chatId, request);
      // read now: something may have been typed while the server was at work
      const before = this.deps.draft.replace(result.prompt);
      this.restored = this.deps.draft.content();
      const { saved } = this.view.getSnapshot();
      change(this.view, { saved: together(saved, before), last: result, failure: null });
      return { ok: true, result };
    } catch (error) {
      return { ok: false, failure: failureOf(error) };
    }
  }

  async undo(): Promise<void> {
    if (this.view.getSnapshot().undoing) {
      return;
    }
    change(this.view, { undoing: true, failure: null });
    try {
      await this.deps.api.undoRewind(this.chatId);
      this.onUndone();
    } catch (error) {
      change(this.view, { failure: failureOf(error) });
    } finally {
      change(this.view, { undoing: false });
    }
  }

  /** The last rewind was undone, here or elsewhere: its prompt stands in the conversation again. */
  onUndone(): void {
    const { saved } = this.view.getSnapshot();
    if (this.restored !== null && same(this.restored, this.deps.draft.content())) {
      this.deps.draft.replace(saved ?? EMPTY);
      change(this.view, { saved: null });
    }
    this.restored = null;
    change(this.view, { last: null });
  }

  insertSaved(): void {
    const { saved } = this.view.getSnapshot();
    if (saved) {
      this.deps.draft.append(saved);
      change(this.view, { saved: null });
    }
  }

  dismissSaved(): void {
    change(this.view, { saved: null });
  }

  /** Puts another draft to the one that is saved. */
  putAside(draft: DraftContent): void {
    const { saved } = this.view.getSnapshot();
    change(this.view, { saved: together(saved, draft) });
  }

  keep(saved: DraftContent): void {
    if (this.view.getSnapshot().saved === null) {
      change(this.view, { saved });
    }
  }
}

function isEmpty({ text, attachments }: DraftContent): boolean {
  return text.trim() === '' && attachments.length === 0;
}

function same(a: DraftContent, b: DraftContent): boolean {
  return a.text === b.text && a.attachments.length === b.attachments.length;
}

/** Two rewinds in a row save two drafts. */
function together(saved: DraftContent | null, more: DraftContent): DraftContent | null {
  if (isEmpty(more)) {
    return saved;
  }
  return saved === null
    ? more
    : {
        text: `${saved.text}\n\n${more.text}`,
        attachments: [...saved.attachments, ...more.attachments],
      };
}
