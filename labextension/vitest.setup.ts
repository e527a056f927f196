/**
 * What JupyterLab's packages expect of a browser and jsdom does not have.
 *
 * Only what is missing is added, so on Node without a document this file defines a few unused classes and no more.
 */
class NoObserver {
  observe(): void {
    // nothing is laid out here, so nothing is ever observed
  }
  unobserve(): void {
    // see observe
  }
  disconnect(): void {
    // see observe
  }
}

const missing: Record<string, unknown> = {
  DragEvent: class extends Event {},
  ResizeObserver: NoObserver,
  IntersectionObserver: NoObserver,
  requestIdleCallback: (callback: () => void) => setTimeout(callback, 0),
  cancelIdleCallback: (handle: ReturnType<typeof setTimeout>) => {
    clearTimeout(handle);
  },
  matchMedia: (query: string) => ({
    matches: false,
    media: query,
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
  }),
  // React's `act` warns unless the test environment says that it is one
  IS_REACT_ACT_ENVIRONMENT: true,
};

// jsdom knows the element, but not how it is opened
if (typeof HTMLDialogElement !== 'undefined' && !('showModal' in HTMLDialogElement.prototype)) {
  Object.assign(HTMLDialogElement.prototype, {
    showModal(this: HTMLDialogElement) {
      this.open = true;
    },
    close(this: HTMLDialogElement) {
      this.open = false;
    },
  });
}

for (const [name, value] of Object.entries(missing)) {
  if (!(name in globalThis)) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
}
