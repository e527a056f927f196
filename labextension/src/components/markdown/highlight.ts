/** Syntax colours as plain data, so that a diff can put its own marks between them. */
import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';

/** `[from, to)` of the code is drawn with the CSS class of JupyterLab's editor theme. */
export type HighlightToken = {
  readonly from: number;
  readonly to: number;
  readonly className: string;
};

/** Tokens of `code` in order, for the language of a file name; null when there is none for it. */
export type Highlight = (code: string, path: string) => Promise<readonly HighlightToken[] | null>;

/** Above this many characters code stays plain: colouring it would hold up the page. */
const LIMIT = 50_000;

function collectTokens(node: Node, at: number, out: HighlightToken[]): number {
  let offset = at;
  for (const child of node.childNodes) {
    const from = offset;
    offset =
      child.nodeType === Node.TEXT_NODE
        ? offset + (child.textContent ?? '').length
        : collectTokens(child, offset, out);
    if (child instanceof HTMLElement && child.className !== '' && child.childElementCount === 0) {
      out.push({ from, to: offset, className: child.className });
    }
  }
  return offset;
}

/** A `Highlight` made of JupyterLab's language registry. */
export function createHighlight(
  languages: Pick<IEditorLanguageRegistry, 'findByFileName' | 'highlight'>,
): Highlight {
  return async (code, path) => {
    const language = languages.findByFileName(path);
    if (language === null || code.length > LIMIT) {
      return null;
    }
    const host = document.createElement('div');
    await languages.highlight(code, language, host);
    const tokens: HighlightToken[] = [];
    const length = collectTokens(host, 0, tokens);
    // another length means that the registry changed the text, so the offsets would lie
    return length === code.length ? tokens : null;
  };
}
