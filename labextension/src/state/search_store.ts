/** Search over what was said in all chats: asks a moment after the last key, and only the latest answer counts. */
import type { AgentChatApi } from '../client/rest';
import { failureOf } from './failure';
import type { ISearch, SearchView } from './stores';
import { change, Value } from './value';

/** After the last key, ms. */
export const SEARCH_PAUSE_MS = 200;
const FEW = 30;
const MOST = 100;
/** One of these says as much as a word. */
const WHOLE_WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Extended_Pictographic}]/u;

const NOTHING: SearchView = { query: '', state: 'idle', hits: [], more: false, failure: null };

/** One letter would find everything. */
export function isSearchable(query: string): boolean {
  const wanted = query.trim();
  return Array.from(wanted).length >= 2 || WHOLE_WORD.test(wanted);
}

export class SearchStore implements ISearch {
  private readonly view = new Value<SearchView>(NOTHING);
  readonly subscribe = this.view.subscribe;
  readonly getSnapshot = this.view.getSnapshot;

  private timer: ReturnType<typeof setTimeout> | undefined;
  private asking: AbortController | null = null;

  constructor(private readonly api: Pick<AgentChatApi, 'search'>) {}

  setQuery(text: string): void {
    const query = text.trim();
    if (query === this.view.getSnapshot().query) {
      return;
    }
    this.stop();
    if (!isSearchable(query)) {
      this.view.set({ ...NOTHING, query });
      return;
    }
    // what was found before stays until the answer is there: no flicker with each key
    change(this.view, { query, state: 'searching', failure: null });
    this.timer = setTimeout(() => void this.ask(query, FEW), SEARCH_PAUSE_MS);
  }

  async showMore(): Promise<void> {
    const { query, more, hits } = this.view.getSnapshot();
    if (more && hits.length < MOST) {
      await this.ask(query, MOST);
    }
  }

  async retry(): Promise<void> {
    const { query, state } = this.view.getSnapshot();
    if (state === 'failed') {
      await this.ask(query, FEW);
    }
  }

  dispose(): void {
    this.stop();
  }

  private async ask(query: string, limit: number): Promise<void> {
    this.stop();
    const asking = new AbortController();
    this.asking = asking;
    change(this.view, { state: 'searching', failure: null });
    try {
      const { hits, more } = await this.api.search({ q: query, limit }, asking.signal);
      if (this.asking === asking) {
        // a title that matches is a row of the list already
        const said = hits.filter(({ seq }) => seq > 0);
        change(this.view, { state: 'ready', hits: said, more });
      }
    } catch (error) {
      if (this.asking === asking) {
        change(this.view, { state: 'failed', hits: [], more: false, failure: failureOf(error) });
      }
    }
  }

  private stop(): void {
    clearTimeout(this.timer);
    this.asking?.abort();
    this.asking = null;
  }
}
