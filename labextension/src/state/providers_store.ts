/** The agents of this server, as its probes find them. */
import type { AgentChatApi } from '../client/rest';
import type { Provider } from '../protocol/generated';
import { failureOf } from './failure';
import type { IProvidersStore, ProvidersView } from './stores';
import { change, Value } from './value';

/** A finding may have been told before this answer came: it is asked for again after this time, ms. */
const AGAIN_MS = 1500;

export class ProvidersStore implements IProvidersStore {
  private readonly view = new Value<ProvidersView>({
    state: 'idle',
    failure: null,
    providers: [],
  });

  private timer: ReturnType<typeof setTimeout> | undefined;

  readonly subscribe = this.view.subscribe;
  readonly getSnapshot = this.view.getSnapshot;

  constructor(private readonly api: Pick<AgentChatApi, 'providers'>) {}

  async load(): Promise<void> {
    const { state } = this.getSnapshot();
    if (state === 'idle' || state === 'failed') {
      await this.ask(false);
    }
  }

  refresh(): Promise<void> {
    return this.ask(true);
  }

  get(id: string | null): Provider | undefined {
    return this.getSnapshot().providers.find(provider => provider.id === id);
  }

  /** What a probe has found, told by the server. */
  take(providers: readonly Provider[]): void {
    change(this.view, { state: 'ready', failure: null, providers });
  }

  private lookAgain(): void {
    const isProbing = () => this.getSnapshot().providers.some(({ state }) => state === 'probing');
    if (isProbing() && this.timer === undefined) {
      this.timer = setTimeout(() => {
        this.timer = undefined;
        if (isProbing()) {
          void this.ask(false);
        }
      }, AGAIN_MS);
    }
  }

  private async ask(refresh: boolean): Promise<void> {
    if (this.getSnapshot().state !== 'ready') {
      change(this.view, { state: 'loading', failure: null });
    }
    try {
      const { providers } = await this.api.providers(refresh);
      this.take(providers);
      this.lookAgain();
    } catch (error) {
      const failure = failureOf(error);
      const known = this.getSnapshot().providers.length > 0;
      change(this.view, known ? { failure } : { state: 'failed', failure });
    }
  }
}
