// @vitest-environment jsdom
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import { StrictMode } from 'react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { fakeServices, plainMarkdown } from '../../testing/thread_fixtures';
import { ServicesContext, type IThreadServices } from '../common/services';
import { Markdown } from './Markdown';
import type { IMarkdownRenderer } from './renderer';

/** A renderer whose answers come when the test says so. */
class SlowRenderer implements IMarkdownRenderer {
  readonly waiting: { source: string; answer: () => void }[] = [];
  readonly rendered: string[] = [];

  peek(): null {
    return null;
  }
  render(source: string): Promise<DocumentFragment> {
    this.rendered.push(source);
    return new Promise(done => {
      this.waiting.push({ source, answer: () => done(plainMarkdown.peek(source)!) });
    });
  }
  typeset(): void {
    // nothing to typeset
  }
}

const view = (services: IThreadServices, text: string, done: boolean) => (
  <ServicesContext.Provider value={services}>
    <Markdown text={text} done={done} />
  </ServicesContext.Provider>
);
const answer = (renderer: SlowRenderer, index: number) =>
  act(async () => {
    renderer.waiting[index]!.answer();
    await Promise.resolve();
  });

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

test('finished blocks are not rendered again while the text grows', async () => {
  const renderer = new SlowRenderer();
  const services = fakeServices({ markdown: renderer });
  const begin = 'First.\n\nSecond.\n\nThird.\n\nFourth.\n\n';
  const { rerender } = render(view(services, begin, false));
  await act(() => vi.advanceTimersByTimeAsync(1000));
  const before = renderer.rendered.length;
  for (const more of ['F', 'Fif', 'Fifth.']) {
    rerender(view(services, begin + more, false));
    await act(() => vi.advanceTimersByTimeAsync(1000));
  }
  const after = renderer.rendered.slice(before);
  expect(after.filter(source => /First|Second/.test(source))).toEqual([]);
  expect(after.at(-1)).toContain('Fifth.');
});

test('the growing end is rendered at most every 100 ms, and its last state always', async () => {
  const renderer = new SlowRenderer();
  const services = fakeServices({ markdown: renderer });
  const { rerender } = render(view(services, 'a', false));
  await answer(renderer, 0);
  for (const text of ['ab', 'abc', 'abcd']) {
    rerender(view(services, text, false));
    await act(() => vi.advanceTimersByTimeAsync(10));
  }
  expect(renderer.rendered).toEqual(['a']);
  await act(() => vi.advanceTimersByTimeAsync(100));
  expect(renderer.rendered).toEqual(['a', 'abcd']);
});

test('a rendering that comes late does not replace a newer one', async () => {
  const renderer = new SlowRenderer();
  const services = fakeServices({ markdown: renderer });
  const { rerender, container } = render(view(services, 'old', false));
  rerender(view(services, 'old and new', true));
  await act(() => vi.advanceTimersByTimeAsync(1000));
  await answer(renderer, 1);
  await answer(renderer, 0);
  expect(container.textContent).toBe('old and new');
});

test('an open fence is plain text that can be copied, without the parser', () => {
  const renderer = new SlowRenderer();
  const services = fakeServices({ markdown: renderer });
  render(<StrictMode>{view(services, '```python\nx = 1\ny', false)}</StrictMode>);
  expect(renderer.rendered).toEqual([]);
  fireEvent.click(screen.getByRole('button', { name: 'Copy' }));
  expect(services.noted.copied).toEqual(['x = 1\ny']);
});

test('a long text keeps all its blocks, in order', () => {
  const blocks = Array.from({ length: 100 }, (_, i) => `Block ${i}.`);
  const { container } = render(view(fakeServices(), blocks.join('\n\n'), true));
  const texts = [...container.querySelectorAll('.ac-block')].map(one => one.textContent.trim());
  expect(texts).toEqual(blocks);
});
