/** When to tell the page: once per frame, however many events came in. */

/** Runs `task` once, soon. */
export type Schedule = (task: () => void) => void;

/** A hidden page draws no frames, but must go on (its title, notifications). */
const HIDDEN_MS = 250;

/** Before the next frame is drawn, or after a while when none is. */
export const nextFrame: Schedule = task => {
  if (typeof requestAnimationFrame === 'undefined') {
    setTimeout(task, 0);
    return;
  }
  const once = (): void => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    task();
  };
  const frame = requestAnimationFrame(once);
  const timer = setTimeout(once, HIDDEN_MS);
};
