/** The one path from Markdown to the page: JupyterLab's parser, its sanitizer, an inert template, our own gate. */
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';

import type { Trans } from '../common/trans';
import { decorate } from './decorate';
import { hideFormulas, showFormulas } from './formulas';

/** JupyterLab's own parts; those of its rendermime registry fit. */
export interface IMarkdownParts {
  readonly parser: IRenderMime.IMarkdownParser | null;
  readonly sanitizer: Pick<IRenderMime.ISanitizer, 'sanitize'>;
  readonly typesetter: IRenderMime.ILatexTypesetter | null;
}

export interface IMarkdownRenderer {
  /** What `render` gave for this source before, if it is still kept. */
  peek(source: string): DocumentFragment | null;
  /** Nodes to show for `source`. Never rejects: what cannot be rendered is shown as plain text. `keep`: for `peek`. */
  render(source: string, keep: boolean): Promise<DocumentFragment>;
  /** Typesets the formulas in `host`, which must be in the page. */
  typeset(host: HTMLElement): void;
}

/** Limits: source characters kept rendered; fenced code that is not coloured; ms of work in one go; ms for one block. */
const LIMITS = { kept: 400_000, coloured: 50_000, slice: 8, deadline: 5_000 };

type Job = { source: string; keep: boolean; done: (nodes: DocumentFragment) => void };

export class MarkdownRenderer implements IMarkdownRenderer {
  constructor(parts: IMarkdownParts, trans: Trans) {
    this.#parts = parts;
    this.#trans = trans;
  }

  peek(source: string): DocumentFragment | null {
    const kept = this.#kept.get(source);
    return kept === undefined ? null : cloneOf(kept);
  }

  render(source: string, keep: boolean): Promise<DocumentFragment> {
    return new Promise(done => {
      this.#jobs.push({ source, keep, done });
      void this.#work();
    });
  }

  typeset(host: HTMLElement): void {
    const { typesetter } = this.#parts;
    if (typesetter !== null) {
      host.querySelectorAll<HTMLElement>('.ac-math').forEach(span => void typesetter.typeset(span));
    }
  }

  /** The newest job first: it is the one nearest to the end of the thread, where the reader is. */
  async #work(): Promise<void> {
    if (this.#working) {
      return;
    }
    this.#working = true;
    let sliceEnd = performance.now() + LIMITS.slice;
    for (let job = this.#jobs.pop(); job !== undefined; job = this.#jobs.pop()) {
      const nodes = await this.#build(job.source);
      if (job.keep) {
        this.#remember(job.source, nodes);
      }
      job.done(job.keep ? cloneOf(nodes) : nodes);
      if (performance.now() > sliceEnd && this.#jobs.length > 0) {
        await new Promise(next => setTimeout(next, 0));
        sliceEnd = performance.now() + LIMITS.slice;
      }
    }
    this.#working = false;
  }

  async #build(source: string): Promise<DocumentFragment> {
    const { parser, sanitizer } = this.#parts;
    if (parser === null || (source.length > LIMITS.coloured && /^\s*(?:```|~~~)/.test(source))) {
      return this.#plain(source);
    }
    try {
      const { text, formulas } = hideFormulas(source);
      const html = await withDeadline(parser.render(text), LIMITS.deadline);
      const template = document.createElement('template');
      // eslint-disable-next-line no-restricted-properties -- the one place: sanitised, inert, then cleaned
      template.innerHTML = sanitizer.sanitize(html);
      decorate(template.content, this.#trans);
      showFormulas(template.content, formulas);
      return template.content;
    } catch {
      return this.#plain(source);
    }
  }

  #plain(source: string): DocumentFragment {
    const nodes = document.createDocumentFragment();
    const pre = document.createElement('pre');
    pre.textContent = source;
    nodes.append(pre);
    decorate(nodes, this.#trans);
    return nodes;
  }

  #remember(source: string, nodes: DocumentFragment): void {
    this.#kept.set(source, nodes);
    this.#keptSize += source.length;
    for (const oldest of this.#kept.keys()) {
      if (this.#keptSize <= LIMITS.kept || oldest === source) {
        break;
      }
      this.#kept.delete(oldest);
      this.#keptSize -= oldest.length;
    }
  }

  readonly #parts: IMarkdownParts;
  readonly #trans: Trans;
  readonly #jobs: Job[] = [];
  readonly #kept = new Map<string, DocumentFragment>();
  #keptSize = 0;
  #working = false;
}

function cloneOf(nodes: DocumentFragment): DocumentFragment {
  return nodes.cloneNode(true) as DocumentFragment;
}

async function withDeadline<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
