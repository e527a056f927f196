/** Unit tests run on Node; a file that needs a document says `// @vitest-environment jsdom`. */
import { readFileSync } from 'node:fs';

import { defineConfig } from 'vitest/config';
import type { Plugin } from 'vitest/config';

/** JupyterLab's packages import `.svg` files as text. */
const svgAsText: Plugin = {
  name: 'svg-as-text',
  enforce: 'pre',
  load(id) {
    const path = id.split('?')[0] ?? id;
    return path.endsWith('.svg')
      ? `export default ${JSON.stringify(readFileSync(path, 'utf8'))};`
      : undefined;
  },
};

export default defineConfig({
  plugins: [svgAsText],
  test: {
    include: ['src/**/*.test.{ts,tsx}'],
    setupFiles: ['./vitest.setup.ts'],
    testTimeout: 20_000,
    restoreMocks: true,
    css: false,
    server: {
      // these packages import files without an extension, which Node's own loader refuses
      deps: { inline: [/@jupyterlab\//, /@lumino\//, /@jupyter\//, /@codemirror\//] },
    },
  },
});
