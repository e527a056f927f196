/** The item of JupyterLab's status bar, and the mark on the panel's icon. Nothing there while nothing goes on. */
import { ReactWidget } from '@jupyterlab/ui-components';
import { Signal } from '@lumino/signaling';

import { TransContext } from '../components/common/trans';
import type { Trans } from '../components/common/trans';
import { StatusButton } from '../components/list/StatusButton';
import { isQuiet, QUIET, type Activity } from '../state/status';
import type { IListStore } from '../state/stores';

export class StatusItem extends ReactWidget {
  /** It has something to show now, or nothing any more. */
  readonly activeChanged = new Signal<this, void>(this);

  constructor(
    private readonly list: IListStore,
    private readonly trans: Trans,
    private readonly onOpen: () => void,
  ) {
    super();
    this.addClass('ac-status-item');
    this.#end = list.subscribe(() => this.#look());
    this.#look();
  }

  get active(): boolean {
    return !isQuiet(this.#activity);
  }

  override dispose(): void {
    this.#end();
    Signal.clearData(this);
    super.dispose();
  }

  protected override render(): React.JSX.Element | null {
    if (!this.active) {
      return null;
    }
    return (
      <TransContext.Provider value={this.trans}>
        <StatusButton activity={this.#activity} onOpen={this.onOpen} />
      </TransContext.Provider>
    );
  }

  #look(): void {
    const { running, needsYou } = this.list.getSnapshot().counts;
    const before = this.#activity;
    if (running === before.running && needsYou === before.needsYou) {
      return;
    }
    const wasActive = this.active;
    this.#activity = { running, needsYou };
    this.update();
    if (wasActive !== this.active) {
      this.activeChanged.emit();
    }
  }

  #activity: Activity = QUIET;
  readonly #end: () => void;
}
