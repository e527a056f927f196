/** One chat as a page sees it: its row, thread, run, draft and folds, in step with the server while it is open. */
import type { AnswerBody, PatchBody } from '../client/answers';
import type { ApiError } from '../client/errors';
import type { EventsFrame } from '../client/frames';
import type { Link } from '../client/link';
import type { AgentChatApi } from '../client/rest';
import type { Chat, Prompt, Sync } from '../protocol/generated';
import { DraftStore } from './draft_store';
import { DraftSync } from './draft_sync';
import { failureOf } from './failure';
import { Folds } from './folds';
import { Follower } from './follower';
import { Jump } from './jump';
import { isRaise } from './raise';
import { QueueActions } from './queue_store';
import { ReadMark } from './read_mark';
import { RewindStore } from './rewind_store';
import { RunStore } from './run_store';
import type { Schedule } from './schedule';
import type {
  AnswerOutcome,
  Failure,
  ForkOutcome,
  IChatStore,
  IReading,
  RunView,
  SendOptions,
} from './stores';
import { ThreadStore } from './thread_store';
import type { Turn } from './view';
import { change, Value } from './value';

export type ChatDeps = {
  readonly api: AgentChatApi;
  readonly link: Pick<Link, 'subscribe' | 'unsubscribe' | 'resubscribe'>;
  readonly schedule: Schedule;
  readonly now: () => number;
  readonly newId: () => string;
  /** The row that the list knows. */
  readonly row: (id: string) => Chat | undefined;
  /** A row came with an answer. */
  readonly onRow: (chat: Chat) => void;
  readonly onClosed: (store: ChatStore) => void;
};

export class ChatStore implements IChatStore {
  readonly chat: Value<Chat | null>;
  readonly folds = new Folds();
  readonly reading: IReading = { place: null };
  readonly thread: ThreadStore['view'];
  readonly run: RunStore['view'];
  readonly draft: DraftStore['view'];
  readonly queue: QueueActions;
  readonly rewinds: RewindStore;
  readonly draftSync: DraftSync;
  readonly jump: Jump;

  private readonly threadStore: ThreadStore;
  private readonly runStore: RunStore;
  private readonly draftStore: DraftStore;
  private readonly follower: Follower;
  private readonly readMark: ReadMark;
  private opened = 0;

  constructor(
    readonly id: string,
    private readonly deps: ChatDeps,
  ) {
    this.chat = new Value<Chat | null>(deps.row(id) ?? null);
    this.threadStore = new ThreadStore(id, deps.api);
    this.runStore = new RunStore(deps.now);
    this.draftStore = new DraftStore(id, {
      api: deps.api,
      newId: deps.newId,
      expect: () => expectOf(this.chat.getSnapshot()),
      place: delivery => placeOf(delivery, this.runStore.view.getSnapshot()),
    });
    this.queue = new QueueActions(id, {
      api: deps.api,
      items: () => this.runStore.view.getSnapshot().queue,
    });
    this.rewinds = new RewindStore(id, { api: deps.api, draft: this.draftStore });
    this.draftSync = new DraftSync(id, {
      api: deps.api,
      draft: this.draftStore,
      putAside: draft => this.rewinds.putAside(draft),
    });
    this.jump = new Jump(id, { api: deps.api, thread: this.threadStore });
    this.follower = new Follower(id, {
      link: deps.link,
      schedule: deps.schedule,
      thread: this.threadStore,
      run: this.runStore,
      onUndone: () => this.rewinds.onUndone(),
      onTaken: () => this.lookForPrompts(),
    });
    this.readMark = new ReadMark(seq => deps.api.read(id, { seq }));
    this.thread = this.threadStore.view;
    this.run = this.runStore.view;
    this.draft = this.draftStore.view;
    this.draftStore.pending.subscribe(() =>
      change(this.thread, { pending: this.draftStore.pending.getSnapshot() }),
    );
  }

  open(): () => void {
    this.opened += 1;
    if (this.opened === 1) {
      void this.follower.start();
      if (this.chat.getSnapshot() === null) {
        void this.loadRow();
      }
    }
    let released = false;
    return () => {
      if (!released) {
        released = true;
        this.opened -= 1;
        if (this.opened === 0) {
          this.readMark.flush();
          this.follower.stop();
          this.deps.onClosed(this);
        }
      }
    };
  }

  reload(): Promise<void> {
    return this.follower.restart();
  }

  loadOlder(): Promise<void> {
    return this.threadStore.loadOlder();
  }

  setDraft(text: string): void {
    this.draftStore.setText(text);
  }

  removeAttachment(id: string): void {
    this.draftStore.removeAttachment(id);
  }

  send(text?: string, options?: SendOptions): Promise<void> {
    return this.draftStore.send(text, options);
  }

  dismissRefusal(): void {
    this.draftStore.dismissRefusal();
  }

  decideTrust(trusted: boolean): Promise<void> {
    return this.draftStore.decideTrust(trusted);
  }

  cancelTrust(): void {
    this.draftStore.cancelTrust();
  }

  async cancel(): Promise<Failure | null> {
    const before = this.run.getSnapshot().stopping;
    this.runStore.setStopping(before === null ? 'asked' : 'force');
    try {
      await this.deps.api.cancel(this.id);
      return null;
    } catch (error) {
      this.runStore.setStopping(before);
      return failureOf(error);
    }
  }

  async answer(askId: string, answer: AnswerBody): Promise<AnswerOutcome> {
    try {
      await this.deps.api.answer(this.id, askId, answer);
      return { ok: true };
    } catch (error) {
      return { ok: false, failure: failureOf(error) };
    }
  }

  async patch(fields: PatchBody): Promise<Failure | null> {
    try {
      const byPerson = isRaise(this.chat.getSnapshot(), fields);
      this.takeRow(await this.deps.api.patchChat(this.id, fields, byPerson));
      return null;
    } catch (error) {
      return failureOf(error);
    }
  }

  async fork(afterSeq: number | null): Promise<ForkOutcome> {
    try {
      const chat = await this.deps.api.fork(this.id, afterSeq);
      this.deps.onRow(chat);
      return { ok: true, chat };
    } catch (error) {
      return { ok: false, failure: failureOf(error) };
    }
  }

  markRead(): void {
    const unread = this.chat.getSnapshot()?.unread ?? true;
    const { known, running } = this.run.getSnapshot();
    this.readMark.seen(this.threadStore.lastSeq, unread, known && !running);
  }

  // ---- from the session -------------------------------------------------------------------

  receive(frame: EventsFrame | Sync): void {
    this.follower.receive(frame);
  }

  setRow(chat: Chat): void {
    this.chat.set(chat);
    if (this.thread.getSnapshot().state === 'deleted') {
      // it is out of the trash again
      this.threadStore.forget();
      if (this.opened > 0) {
        void this.follower.restart();
      }
    }
  }

  /** The subscription ended because too much was missed. */
  onGap(lastSeq: number): void {
    this.follower.recover(lastSeq);
  }

  onSubscribeRefused(error: ApiError): void {
    this.follower.onSubscribeRefused(error);
  }

  onConnected(): void {
    this.follower.onConnected();
    this.draftStore.onConnected();
    void this.draftSync.refresh();
  }

  onDisconnected(): void {
    this.follower.onDisconnected();
  }

  markDeleted(): void {
    this.follower.markDeleted();
  }

  /** Frees the log of a chat that nobody has open; draft and folds stay. */
  forget(): void {
    if (this.opened === 0) {
      this.threadStore.forget();
      this.reading.place = null;
    }
  }

  dispose(): void {
    this.follower.stop();
    this.readMark.dispose();
    this.draftSync.dispose();
  }

  private async loadRow(): Promise<void> {
    try {
      this.takeRow(await this.deps.api.chat(this.id));
    } catch {
      // the thread says what is wrong; a `chat` frame or the list may still bring the row
    }
  }

  private takeRow(chat: Chat): void {
    this.chat.set(chat);
    this.deps.onRow(chat);
  }

  private lookForPrompts(): void {
    if (this.draftStore.waiting) {
      const { turns } = this.thread.getSnapshot();
      const { queue } = this.run.getSnapshot();
      this.draftStore.arrived(
        clientId =>
          hasPrompt(turns, clientId) || queue.some(({ client_id }) => client_id === clientId),
      );
    }
  }
}

function expectOf(chat: Chat | null) {
  if (chat === null) {
    return null;
  }
  const { provider, model, mode, effective_permission } = chat;
  return { provider, model, mode, effective_permission };
}

function placeOf(delivery: Prompt['delivery'], { running, queue }: RunView): 'thread' | 'queue' {
  const queues = delivery === 'queue' || (delivery === 'auto' && (running || queue.length > 0));
  return queues ? 'queue' : 'thread';
}

function hasPrompt(turns: readonly Turn[], clientId: string): boolean {
  return (
    turns.findLast(
      turn =>
        turn.user?.clientId === clientId ||
        turn.parts.some(part => part.type === 'user' && part.clientId === clientId),
    ) !== undefined
  );
}
