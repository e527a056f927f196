/** `node stories/build.mjs OUT [THEMES]`: bundles the story page into the folder OUT, with JupyterLab's themes beside it. */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { build } from 'esbuild';

const [out = 'stories/out', themes = '../.venv/share/jupyter/lab/themes/@jupyterlab'] =
  process.argv.slice(2);
mkdirSync(out, { recursive: true });
for (const [name, folder] of [
  ['light', 'theme-light-extension'],
  ['dark', 'theme-dark-extension'],
  ['hc', 'theme-dark-high-contrast-extension'],
]) {
  copyFileSync(join(themes, folder, 'index.css'), join(out, `theme-${name}.css`));
}
writeFileSync(
  join(out, 'index.html'),
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>Stories</title><link id="theme" rel="stylesheet" href="theme-light.css">
<link rel="stylesheet" href="palette.css"><link rel="stylesheet" href="style.css"><style>body{margin:0;background:var(--jp-layout-color1);font-family:var(--jp-ui-font-family)}</style><div id="root"></div><script src="main.js"></script></html>`,
);
const shared = { bundle: true, logLevel: 'warning' };
// in the product JupyterLab's own pages define the palette that the themes use
copyFileSync(
  'node_modules/@jupyterlab/apputils/style/materialcolors.css',
  join(out, 'palette.css'),
);
await build({ ...shared, entryPoints: ['style/index.css'], outfile: join(out, 'style.css') });
await build({
  ...shared,
  entryPoints: ['stories/main.tsx'],
  outfile: join(out, 'main.js'),
  jsx: 'automatic',
  define: { 'process.env.NODE_ENV': '"development"' },
  loader: { '.svg': 'text', '.css': 'empty' },
  inject: [],
  alias: { path: 'path-browserify' },
});
