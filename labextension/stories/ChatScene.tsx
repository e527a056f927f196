/** Draws a chat story and does in it what the story says. */
import { useEffect, useState } from 'react';

import type { IMarkdownRenderer } from '../src/components/markdown/renderer';
import { chatPage } from '../src/testing/chat_page';
import type { ChatStory } from './chats';

const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));

/** `Rewind#1`: the second of that name; `Rewind#dialog`: the one in the dialog. */
function find(name: string): HTMLButtonElement | undefined {
  const [label, which = '0'] = name.split('#');
  const scope = which === 'dialog' ? 'dialog button' : 'button';
  const named = [...document.querySelectorAll<HTMLButtonElement>(scope)].filter(
    button => (button.getAttribute('aria-label') ?? button.textContent) === label,
  );
  return named[which === 'dialog' ? 0 : Number(which)];
}

async function perform(story: ChatStory, page: ReturnType<typeof chatPage>): Promise<void> {
  await pause(100);
  page.server.sync('c1', story.sync);
  page.session.chat('c1').setDraft(story.draft ?? '');
  for (const name of story.press ?? []) {
    await pause(200);
    find(name)?.click();
  }
  await pause(200);
  document.body.dataset.ready = 'true';
}

export interface IChatSceneProps {
  story: ChatStory;
  markdown: IMarkdownRenderer;
  width: string;
}

export function ChatScene({ story, markdown, width }: IChatSceneProps): React.JSX.Element {
  const [page] = useState(() => {
    localStorage.clear();
    const made = chatPage(story.events, markdown, story.prepare);
    return made;
  });
  useEffect(() => void perform(story, page), [page, story]);
  return (
    <div className="ac-root ac-panel" style={{ width: `${width}px`, height: '100vh' }}>
      {page.element}
    </div>
  );
}
