/** Turns clean Markdown output into ours: code with a bar, links that stay safe, pictures that wait for a click. */
import type { Trans } from '../common/trans';
import { cleanTree, readTarget } from './safeDom';

const LOCAL_PICTURE = /^data:image\/(?:png|jpeg|gif|webp|avif|bmp|svg\+xml)[;,]/i;

function button(className: string, words: string): HTMLButtonElement {
  const element = document.createElement('button');
  element.type = 'button';
  element.className = className;
  element.textContent = words;
  return element;
}

function pathButton(path: string, line: number | null, words: Iterable<Node | string>): Element {
  const element = button('ac-link ac-path', '');
  element.dataset.acPath = path;
  if (line !== null) {
    element.dataset.acLine = String(line);
  }
  element.title = path;
  element.replaceChildren(...words);
  return element;
}

/** What stands for an image: itself when its bytes are in the text, else a button. */
function picture(trans: Trans, image: Element): Node {
  const source = image.getAttribute('src') ?? '';
  const alt = image.getAttribute('alt') ?? '';
  if (LOCAL_PICTURE.test(source)) {
    const shown = document.createElement('img');
    shown.src = source;
    shown.alt = alt;
    return shown;
  }
  const target = readTarget(source);
  if (target.kind === 'path') {
    return pathButton(target.path, null, [alt === '' ? target.path : alt]);
  }
  if (target.kind === 'web' && URL.canParse(target.url) && !target.url.startsWith('mailto:')) {
    const { host } = new URL(target.url);
    const words = alt === '' ? '' : `${alt}: `;
    const load = button(
      'ac-button ac-mod-small ac-remote',
      words + trans.__('Load picture from %1', host),
    );
    load.dataset.acImage = target.url;
    load.dataset.acAlt = alt;
    load.title = target.url;
    return load;
  }
  return document.createTextNode(alt);
}

/** Replaces `load`, a button made for a remote picture, by the picture: only on a person's click. */
export function loadPicture(load: HTMLElement): void {
  const image = document.createElement('img');
  image.referrerPolicy = 'no-referrer';
  image.alt = load.dataset.acAlt ?? '';
  image.src = load.dataset.acImage ?? '';
  load.replaceWith(image);
}

function decorateLink(link: HTMLAnchorElement): void {
  const target = readTarget(link.getAttribute('href') ?? '');
  switch (target.kind) {
    case 'web':
      link.href = target.url;
      link.target = '_blank';
      link.rel = 'noopener noreferrer';
      break;
    case 'path':
      link.replaceWith(pathButton(target.path, target.line, link.childNodes));
      break;
    case 'none':
      link.replaceWith(...link.childNodes);
      break;
  }
}

/** What scrolls by itself can be reached by the keyboard, and so needs a name. */
function scrollable(element: HTMLElement, name: string): void {
  element.tabIndex = 0;
  element.setAttribute('role', 'group');
  element.setAttribute('aria-label', name);
}

function decorateCode(trans: Trans, pre: HTMLPreElement): void {
  const code = pre.querySelector('code');
  const language = /language-(\S+)/.exec(code?.className ?? '')?.[1] ?? '';
  const box = document.createElement('div');
  box.className = 'ac-code';
  const bar = document.createElement('div');
  bar.className = 'ac-code-bar';
  const name = document.createElement('span');
  name.className = 'ac-grow ac-ellipsis';
  name.textContent = language;
  const copy = button('ac-link ac-code-copy', trans.__('Copy'));
  copy.dataset.acCopy = '';
  bar.append(name, copy);
  pre.replaceWith(box);
  box.append(bar, pre);
  pre.tabIndex = 0;
  pre.setAttribute('role', 'group');
  pre.setAttribute(
    'aria-label',
    language === '' ? trans.__('Code') : trans.__('%1 code', language),
  );
}

/** Cleans and decorates `root` in place; it must already have been through JupyterLab's sanitizer. */
export function decorate(root: DocumentFragment, trans: Trans): void {
  cleanTree(root, image => picture(trans, image));
  root.querySelectorAll('a').forEach(decorateLink);
  root.querySelectorAll('pre').forEach(pre => decorateCode(trans, pre));
  for (const table of root.querySelectorAll('table')) {
    const frame = document.createElement('div');
    frame.className = 'ac-table';
    scrollable(frame, trans.__('Table'));
    table.replaceWith(frame);
    frame.append(table);
  }
}
