/** What a person does to the queue of a chat. The queue itself comes by `sync` alone, here and in other pages. */
import type { AgentChatApi } from '../client/rest';
import type { QueueItem } from '../protocol/generated';
import { failureOf } from './failure';
import type { Failure, IQueueActions } from './stores';

export type QueueDeps = {
  readonly api: Pick<AgentChatApi, 'editQueued' | 'removeQueued' | 'orderQueue' | 'pauseQueue'>;
  readonly items: () => readonly QueueItem[];
};

export class QueueActions implements IQueueActions {
  constructor(
    private readonly chatId: string,
    private readonly deps: QueueDeps,
  ) {}

  edit(id: string, text: string): Promise<Failure | null> {
    return failureIn(this.deps.api.editQueued(this.chatId, id, text));
  }

  move(id: string, to: number): Promise<Failure | null> {
    const order = this.deps
      .items()
      .map(item => item.id)
      .filter(other => other !== id);
    order.splice(to, 0, id);
    return failureIn(this.deps.api.orderQueue(this.chatId, order));
  }

  remove(id: string): Promise<Failure | null> {
    return failureIn(this.deps.api.removeQueued(this.chatId, id));
  }

  pause(): Promise<Failure | null> {
    return failureIn(this.deps.api.pauseQueue(this.chatId, true));
  }

  resume(): Promise<Failure | null> {
    return failureIn(this.deps.api.pauseQueue(this.chatId, false));
  }
}

async function failureIn(call: Promise<void>): Promise<Failure | null> {
  try {
    await call;
    return null;
  } catch (error) {
    return failureOf(error);
  }
}
