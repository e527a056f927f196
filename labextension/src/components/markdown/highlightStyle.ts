/** Puts the colours of JupyterLab's editor theme on the page, also when no editor has been opened yet. */
import { jupyterHighlightStyle } from '@jupyterlab/codemirror';

const MARK = 'data-agentchat-highlight';

/** Idempotent. Without it code in a chat is uncoloured until the first editor or notebook opens. */
export function mountHighlightStyle(): void {
  const rules = jupyterHighlightStyle.module?.getRules();
  if (rules !== undefined && document.querySelector(`style[${MARK}]`) === null) {
    const style = document.createElement('style');
    style.setAttribute(MARK, '');
    style.textContent = rules;
    document.head.append(style);
  }
}
