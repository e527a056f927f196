/** Cuts a growing Markdown text into blocks that will not change any more, and a tail that may. */

export type Block = {
  readonly key: number;
  /** As in the document; all blocks and the tail joined are the document. */
  readonly source: string;
  /** What to render: `source`, with the definitions of the reference links that it uses. */
  readonly render: string;
  /** An open fence at the tail: show `code` as plain text until it closes. */
  readonly openFence: { readonly info: string; readonly code: string } | null;
};

export type Split = {
  /** Finished blocks: identity kept, except when a link definition that they use has just come. */
  readonly blocks: readonly Block[];
  /** The unfinished rest, null when there is none. */
  readonly tail: Block | null;
};

/** One per text part; feed it the whole text each time, it looks only at what is new. */
export class BlockSplitter {
  /** `text` must begin with the text of the call before, else everything is split anew. `done`: no tail is left. */
  update(_text: string, _done: boolean): Split {
    return { blocks: [], tail: null };
  }
}
