/** Draws the side panel over the fake server and does in it what the story says. */
import { useEffect, useState } from 'react';

import { sidePage, type SidePage } from '../src/testing/side_page';
import type { ListStory } from './lists';

const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));

async function perform(story: ListStory, page: SidePage): Promise<void> {
  await pause(200);
  await story.perform?.(page);
  await pause(500);
  document.body.dataset.ready = 'true';
}

export function ListScene({ story, width }: { story: ListStory; width: string }) {
  const [page] = useState(() => {
    localStorage.clear();
    return sidePage(story.prepare);
  });
  useEffect(() => void perform(story, page), [page, story]);
  return <div style={{ width: `${width}px`, height: '100vh' }}>{page.element}</div>;
}
