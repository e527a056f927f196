// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { FollowMode } from './followMode';

/** An element with a layout of our own; `resize` is what the browser does when content changes its height. */
class Box {
  readonly element = document.createElement('div');
  height = 1000;
  top = 0;
  resize: () => void = () => undefined;

  constructor() {
    Object.defineProperties(this.element, {
      scrollHeight: { get: () => this.height },
      clientHeight: { get: () => 300 },
      scrollTop: {
        get: () => this.top,
        set: (value: number) => (this.top = Math.max(0, Math.min(value, this.height - 300))),
      },
    });
  }

  scrollTo(top: number): void {
    this.element.scrollTop = top;
    this.element.dispatchEvent(new Event('scroll'));
  }

  grow(height: number): void {
    this.height = height;
    this.resize();
  }
}

let box: Box;
beforeEach(() => {
  box = new Box();
  vi.stubGlobal(
    'ResizeObserver',
    class {
      constructor(callback: () => void) {
        box.resize = callback;
      }
      observe(): void {
        // the test calls back itself
      }
      disconnect(): void {
        box.resize = () => undefined;
      }
    },
  );
});
afterEach(() => {
  vi.unstubAllGlobals();
});

function follow(): { mode: FollowMode; changes: boolean[]; end: () => void } {
  const changes: boolean[] = [];
  const mode = new FollowMode(following => changes.push(following));
  return { mode, changes, end: mode.attach(box.element, document.createElement('div')) };
}

test('it opens at the end and stays there while the content grows', () => {
  follow();
  expect(box.top).toBe(700);
  box.grow(1500);
  expect(box.top).toBe(1200);
});

test('a reader who scrolls up is never moved again, until they come back to the end', () => {
  const { changes } = follow();
  box.scrollTo(600);
  box.grow(2000);
  expect(box.top).toBe(600);
  box.scrollTo(1700);
  box.grow(2500);
  expect(box.top).toBe(2200);
  expect(changes).toEqual([false, true]);
});

test('content that shrinks is not a reader who scrolls up', () => {
  const { mode } = follow();
  box.height = 800;
  box.scrollTo(480);
  expect(mode.following).toBe(true);
});

test('"Jump to latest" goes to the end and follows again', () => {
  const { mode } = follow();
  box.scrollTo(100);
  mode.follow();
  expect(box.top).toBe(700);
  box.grow(1200);
  expect(box.top).toBe(900);
});

test('nothing is watched after the end', () => {
  const { end } = follow();
  end();
  box.grow(3000);
  expect(box.top).toBe(700);
});
