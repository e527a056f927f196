/**
 * The last gate of Markdown: after JupyterLab's sanitizer only the elements and attributes below remain, no `id`,
 * `name`, `style` or `data-*`, no form, and nothing that loads by itself (docs: security, T1).
 */

const ELEMENTS = new Set(
  (
    'a abbr b blockquote br code dd del details div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i ins kbd li ' +
    'mark ol p pre q s samp small span strong sub summary sup table tbody td tfoot th thead tr u ul var'
  ).split(' '),
);

const ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  a: ['href', 'title'],
  abbr: ['title'],
  details: ['open'],
  ol: ['start', 'type', 'reversed'],
  li: ['value'],
  td: ['align', 'colspan', 'rowspan'],
  th: ['align', 'colspan', 'rowspan', 'scope'],
};

/** Elements that go with all that is in them; any other unknown one leaves its content. */
const DROPPED = new Set(
  'script style template iframe object embed audio video svg math form textarea select noscript'.split(
    ' ',
  ),
);

/** Classes that the highlighter writes; everywhere else a class could dress up as a part of JupyterLab. */
const CODE_CLASS = /^(?:language-[\w+#.-]+|ͼ[\w-]+)$/u;

/** What an address leads to. `path` is a file as the agent named it. */
export type Target =
  | { readonly kind: 'web'; readonly url: string }
  | { readonly kind: 'path'; readonly path: string; readonly line: number | null }
  | { readonly kind: 'none' };

/** A scheme, unless it is a file with a line number ("train.py:40"); an anchor; another host. */
const SCHEME = /^(?:[a-z][a-z0-9+.-]*:(?!\d+(?:[:-]\d+)*$)|[#?]|[/\\]{2})/i;

/** Reads an `href` or `src`; only web addresses, mail and paths are followed. */
export function readTarget(address: string): Target {
  // browsers drop these when they read an address, so they must not hide a scheme from us
  // eslint-disable-next-line no-control-regex
  const plain = address.replace(/[\u0000-\u0020]+/g, ' ').trim();
  if (/^(?:https?:\/\/|mailto:)/i.test(plain)) {
    return { kind: 'web', url: plain };
  }
  if (plain === '' || SCHEME.test(plain)) {
    return { kind: 'none' };
  }
  const [, path = '', line] = /^(.*?)(?:(?:#L|:)(\d+)(?:[:-].*)?|#.*)?$/s.exec(plain) ?? [];
  let decoded = path;
  try {
    decoded = decodeURIComponent(path);
  } catch {
    // not percent-encoded after all
  }
  return decoded === ''
    ? { kind: 'none' }
    : { kind: 'path', path: decoded, line: line === undefined ? null : Number(line) };
}

function cleanAttributes(element: Element): void {
  const name = element.localName;
  const inCode = element.closest('pre') !== null;
  for (const attribute of [...element.attributes]) {
    if (attribute.name === 'class' && inCode) {
      const kept = attribute.value.split(/\s+/).filter(word => CODE_CLASS.test(word));
      element.setAttribute('class', kept.join(' '));
    } else if (!ATTRIBUTES[name]?.includes(attribute.name)) {
      element.removeAttribute(attribute.name);
    }
  }
}

function replaceCheckbox(element: Element): void {
  const mark = document.createElement('span');
  const done = element.hasAttribute('checked');
  mark.className = 'ac-checkbox';
  mark.setAttribute('role', 'img');
  mark.setAttribute('aria-label', done ? '☑' : '☐');
  mark.textContent = done ? '☑' : '☐';
  element.replaceWith(mark);
}

/** Reduces `root`, already sanitised, to what an answer may hold. Pictures are handed to `picture` one by one. */
export function cleanTree(root: DocumentFragment, picture: (image: Element) => Node): void {
  for (const element of [...root.querySelectorAll('*')]) {
    const name = element.localName;
    if (!root.contains(element)) {
      continue;
    }
    if (name === 'img') {
      element.replaceWith(picture(element));
    } else if (name === 'input' && element.getAttribute('type') === 'checkbox') {
      replaceCheckbox(element);
    } else if (DROPPED.has(name)) {
      element.remove();
    } else if (!ELEMENTS.has(name)) {
      element.replaceWith(...element.childNodes);
    } else {
      cleanAttributes(element);
    }
  }
}
