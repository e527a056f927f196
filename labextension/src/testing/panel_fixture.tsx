/** Shows a chat page in a test and waits for what happens in it. */
import { act, render } from '@testing-library/react';
import { StrictMode } from 'react';

import type { ChatEvent } from '../protocol/generated';
import { chatPage, type ChatPage } from './chat_page';
import type { FakeServer } from './fake_server';
import { plainMarkdown } from './thread_fixtures';

export type ShownChat = Omit<ChatPage, 'element'> & {
  /** The server says what runs and what waits. */
  readonly sync: (said?: object) => Promise<void>;
  readonly publish: (events: readonly ChatEvent[]) => Promise<void>;
};

/** Lets answers, frames and drawings pass. */
export function settle(): Promise<void> {
  return act(() => new Promise<void>(resolve => setTimeout(resolve, 0)));
}

/** Shows the chat `c1` with these events in its log; `prepare` sets answers before it is opened. */
export async function showChat(
  events: readonly ChatEvent[] = [],
  prepare?: (server: FakeServer) => void,
): Promise<ShownChat> {
  const { element, ...page } = chatPage(events, plainMarkdown, prepare);
  render(<StrictMode>{element}</StrictMode>);
  await settle();
  const sync = async (said?: object) => {
    page.server.sync('c1', said);
    await settle();
  };
  await sync();
  return {
    ...page,
    sync,
    publish: async fresh => {
      page.server.publish('c1', fresh);
      await settle();
    },
  };
}
