/**
 * Takes formulas out of Markdown before it is parsed and puts them back as spans of our own, so that Markdown does not
 * read `_` inside a formula and MathJax sees nothing but formulas (money stays text).
 */
import { findFormulas, type Formula } from '../../markdown/math';

/** Two private-use characters around the formula's number: Markdown and the sanitizer leave them alone. */
const [OPEN, CLOSE] = ['\ue0f0', '\ue0f1'];
const PLACEHOLDER = /\ue0f0(\d+)\ue0f1/g;

/** Markdown with placeholders, and what they stand for. */
export type HiddenFormulas = { readonly text: string; readonly formulas: readonly Formula[] };

/** `[start, end)` of code spans and fenced code: no formula begins, ends or lies in them. */
function codeRanges(source: string): [number, number][] {
  const ranges: [number, number][] = [];
  const opener = /(?:^|\n)[ \t>]*(`{3,}|~{3,})[^\n]*|(?<!\\)(`+)/g;
  for (let match = opener.exec(source); match !== null; match = opener.exec(source)) {
    const fence = match[1];
    const closer =
      fence === undefined
        ? new RegExp(`(?<!\`)\`{${(match[2] ?? '').length}}(?!\`)`, 'g')
        : new RegExp(`\\n[ \\t>]*${fence.charAt(0)}{${fence.length},}[ \\t]*(?=\\n|$)`, 'g');
    closer.lastIndex = opener.lastIndex;
    const end = closer.exec(source);
    if (end !== null) {
      ranges.push([match.index, closer.lastIndex]);
      opener.lastIndex = closer.lastIndex;
    } else if (fence !== undefined) {
      ranges.push([match.index, source.length]);
      break;
    }
  }
  return ranges;
}

/** `source` with each formula replaced by a placeholder. */
export function hideFormulas(source: string): HiddenFormulas {
  if (!/[$\\]/.test(source) || source.includes(OPEN)) {
    return { text: source, formulas: [] };
  }
  const formulas: Formula[] = [];
  let text = '';
  const hide = (plain: string): void => {
    let end = 0;
    for (const span of findFormulas(plain)) {
      text += `${plain.slice(end, span.start)}${OPEN}${formulas.length}${CLOSE}`;
      formulas.push(span);
      end = span.end;
    }
    text += plain.slice(end);
  };
  let end = 0;
  for (const [from, to] of codeRanges(source)) {
    hide(source.slice(end, from));
    text += source.slice(from, to);
    end = to;
  }
  hide(source.slice(end));
  return { text, formulas };
}

function sourceOf(text: string, formulas: readonly Formula[]): string {
  return text.replace(PLACEHOLDER, (_, place: string) => formulas[Number(place)]?.source ?? '');
}

function formulaSpan(formula: Formula): HTMLElement {
  const span = document.createElement('span');
  span.className = formula.display ? 'ac-math ac-mod-display' : 'ac-math';
  span.textContent = formula.source;
  return span;
}

/** Puts `formulas` back into `root`: as spans in text, as their source in code and attributes. */
export function showFormulas(root: DocumentFragment, formulas: readonly Formula[]): void {
  if (formulas.length === 0) {
    return;
  }
  for (const element of root.querySelectorAll('[href],[src],[alt],[title],[aria-label]')) {
    for (const attribute of element.attributes) {
      attribute.value = sourceOf(decodePlaceholder(attribute.value), formulas);
    }
  }
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    if (node.nodeValue?.includes(OPEN)) {
      texts.push(node as Text);
    }
  }
  for (const node of texts) {
    if (node.parentElement?.closest('code, pre')) {
      node.nodeValue = sourceOf(node.data, formulas);
    } else {
      const pieces = node.data.split(PLACEHOLDER).map((piece, index) => {
        const formula = index % 2 === 1 ? formulas[Number(piece)] : undefined;
        return formula === undefined ? piece : formulaSpan(formula);
      });
      node.replaceWith(...pieces);
    }
  }
}

/** In addresses the placeholder's characters come percent-encoded. */
function decodePlaceholder(value: string): string {
  return value.replace(/%EE%83%B0(\d+)%EE%83%B1/gi, `${OPEN}$1${CLOSE}`);
}
