// @vitest-environment jsdom
import { Sanitizer } from '@jupyterlab/apputils/lib/sanitizer';
import { marked } from 'marked';
import { expect, test, vi } from 'vitest';

import { english } from '../common/trans';
import { loadPicture } from './decorate';
import { MarkdownRenderer, type IMarkdownParts } from './renderer';

const parser = { render: (source: string) => Promise.resolve(marked(source, { async: false })) };

async function render(source: string, parts: Partial<IMarkdownParts> = {}): Promise<HTMLElement> {
  const renderer = new MarkdownRenderer(
    { parser, sanitizer: new Sanitizer(), typesetter: null, ...parts },
    english,
  );
  const host = document.createElement('div');
  host.append(await renderer.render(source, false));
  return host;
}

test('Markdown is rendered with its code, lists and tables', async () => {
  const host = await render(
    '# T\n\n- [x] a\n\n| a | b |\n|--|--:|\n| 1 | 2 |\n\n```py\nx < 1\n```',
  );
  expect(host.querySelector('h1')?.textContent).toBe('T');
  expect(host.querySelector('.ac-checkbox')?.textContent).toBe('☑');
  expect(host.querySelector('td[align="right"]')?.textContent).toBe('2');
  expect(host.querySelector('.ac-code pre')?.textContent).toContain('x < 1');
  expect(host.querySelector('.ac-code-bar')?.textContent).toBe('pyCopy');
});

const HOSTILE = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<svg onload=alert(1)><script>alert(1)</script></svg>',
  '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
  '<object data="https://evil.example/x"></object><embed src="https://evil.example/x">',
  '<form action="https://evil.example"><input name=q><button>Sign in</button></form>',
  '<a id="MathJax" name="MathJax">clobber</a>',
  '<div style="position:fixed;inset:0;background:url(https://evil.example/x)">cover</div>',
  '<div class="jp-Dialog lm-Widget">dress up</div>',
  '<button data-commandlinker-command="terminal:create-new" data-commandlinker-args="{}">x</button>',
  '<a data-commandlinker-command="terminal:create-new">x</a>',
  '<button data-ac-path="/etc/passwd" data-ac-image="https://evil.example/x">x</button>',
  '<video src="https://evil.example/v" poster="https://evil.example/p" autoplay></video>',
  '<audio src="https://evil.example/a"></audio>',
  '<picture><source srcset="https://evil.example/s"><img srcset="https://evil.example/s"></picture>',
  '<table background="https://evil.example/b"><tr><td background="https://evil.example/b">x</td></tr></table>',
  '<link rel=stylesheet href="https://evil.example/c"><style>@import "https://evil.example/c"</style>',
  '<meta http-equiv=refresh content="0;url=https://evil.example">',
  '<base href="https://evil.example/">',
  '[x](javascript:alert(1))',
  '[x](JaVa\tScRiPt:alert(1))',
  '[x](data:text/html,<script>alert(1)</script>)',
  '[x](vbscript:alert(1))',
  '![x](javascript:alert(1))',
  '![x](data:text/html;base64,PHNjcmlwdD4=)',
  '<math><mtext><style><img src=x onerror=alert(1)></style></mtext></math>',
  '<details open ontoggle=alert(1)><summary>x</summary></details>',
  '`` ` ``<img src=x onerror=alert(1)>',
  '```"onmouseover="alert(1)\nx\n```',
  '```x"><img src=x onerror=alert(1)>\ny\n```',
];

const ALLOWED = new Set(
  'class href title target rel type tabindex role aria-label data-ac-copy data-ac-path data-ac-line data-ac-image data-ac-alt align colspan rowspan scope start reversed value open alt src'.split(
    ' ',
  ),
);

test.each(HOSTILE)('%s leaves nothing that acts or loads', async source => {
  const host = await render(source);
  for (const element of host.querySelectorAll('*')) {
    expect(element.localName).not.toMatch(
      /^(?:script|style|iframe|object|embed|form|input|video|audio|source|svg|math|link|meta|base|picture|img)$/,
    );
    for (const { name, value } of element.attributes) {
      expect(ALLOWED.has(name), `${element.localName}[${name}]`).toBe(true);
      expect(value).not.toMatch(/^\s*(?:javascript|vbscript|data)\s*:/i);
      expect(name === 'class' ? value : '').not.toMatch(/\b(?:jp|lm)-/);
    }
  }
  // a button of ours is made by us: its path never comes from an attribute of the text
  expect(host.innerHTML).not.toContain('/etc/passwd');
  expect(host.innerHTML).not.toContain('commandlinker');
});

test('a remote picture is a button until a person asks for it', async () => {
  const requested = vi.spyOn(HTMLImageElement.prototype, 'src', 'set');
  const host = await render('![Plot](https://pictures.example/a.png)');
  const button = host.querySelector<HTMLButtonElement>('button');
  expect(button?.textContent).toBe('Plot: Load picture from pictures.example');
  expect(host.querySelector('img')).toBeNull();
  expect(requested).not.toHaveBeenCalled();
  loadPicture(button!);
  expect(requested).toHaveBeenCalledWith('https://pictures.example/a.png');
  expect(host.querySelector('img')?.referrerPolicy).toBe('no-referrer');
});

test('a picture whose bytes are in the text is shown', async () => {
  const host = await render('![dot](data:image/png;base64,iVBORw0KGgo=)');
  expect(host.querySelector('img')?.alt).toBe('dot');
});

test('web links open outside, paths open in JupyterLab, the rest is text', async () => {
  const host = await render(
    '[a](https://x.example/) [b](src/train.py#L40) [c](./a%20b.md) [d](#top) [e](ftp://x) [f](//evil.example)',
  );
  const links = [...host.querySelectorAll('a')];
  expect(links.map(link => [link.textContent, link.target, link.rel])).toEqual([
    ['a', '_blank', 'noopener noreferrer'],
  ]);
  const paths = [...host.querySelectorAll('button')].map(({ dataset }) => [
    dataset.acPath,
    dataset.acLine,
  ]);
  expect(paths).toEqual([
    ['src/train.py', '40'],
    ['./a b.md', undefined],
  ]);
  expect(host.textContent).toBe('a b c d e f\n');
});

test('only formulas are typeset: money, code and links stay as they are', async () => {
  const typeset = vi.fn();
  const typesetter = { typeset };
  const host = await render(
    'It costs $5 and $6; $a_1 + b_1$ holds, `$x$` is code, [link](https://x.example/$a$).',
    { typesetter },
  );
  const formulas = [...host.querySelectorAll('.ac-math')];
  expect(formulas.map(span => span.textContent)).toEqual(['$a_1 + b_1$']);
  expect(host.querySelector('code')?.textContent).toBe('$x$');
  expect(host.querySelector('a')?.href).toBe('https://x.example/$a$');
  expect(host.textContent).toContain('It costs $5 and $6;');
  new MarkdownRenderer({ parser, sanitizer: new Sanitizer(), typesetter }, english).typeset(host);
  expect(typeset.mock.calls).toEqual([[formulas[0]]]);
});

test('a parser that fails or is absent leaves the text readable', async () => {
  const broken = { render: () => Promise.reject(new Error('no')) };
  expect((await render('# *x*', { parser: broken })).textContent).toContain('# *x*');
  expect((await render('# *x*', { parser: null })).textContent).toContain('# *x*');
});

test('what is kept comes back at once, as nodes of its own', async () => {
  const renderer = new MarkdownRenderer(
    { parser, sanitizer: new Sanitizer(), typesetter: null },
    english,
  );
  expect(renderer.peek('*x*')).toBeNull();
  await renderer.render('*x*', true);
  const [one, other] = [renderer.peek('*x*'), renderer.peek('*x*')];
  expect(one?.textContent).toBe('x\n');
  expect(one?.firstChild).not.toBe(other?.firstChild);
});
