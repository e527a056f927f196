/** A Lumino widget with React inside that renders nothing before it is seen for the first time. */
import { ReactWidget } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';

import { TransContext } from '../components/common/trans';
import { PanelContext, ShownContext, type IPanelContext } from './context';
import { Value } from '../state/value';

/**
 * A restored layout attaches every panel and tab at start; what nobody looks at opens no socket.
 *
 * `focusRequests` counts how often the widget was asked to take the focus: views put it into their message field.
 */
export abstract class LateWidget extends ReactWidget {
  constructor(protected readonly context: IPanelContext) {
    super();
    this.addClass('jp-AgentChat-panel');
    this.node.tabIndex = -1;
  }

  readonly focusRequests = new Value(0);
  readonly shown = new Value(false);

  protected abstract renderView(): React.JSX.Element;

  protected override render(): React.JSX.Element | null {
    if (!this.#seen) {
      return null;
    }
    return (
      <PanelContext.Provider value={this.context}>
        <TransContext.Provider value={this.context.trans}>
          <ShownContext.Provider value={this.shown}>{this.renderView()}</ShownContext.Provider>
        </TransContext.Provider>
      </PanelContext.Provider>
    );
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this.#look();
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this.#look();
  }

  protected override onAfterHide(message: Message): void {
    super.onAfterHide(message);
    this.#look();
  }

  protected override onAfterDetach(message: Message): void {
    super.onAfterDetach(message);
    this.#look();
  }

  protected override onActivateRequest(message: Message): void {
    super.onActivateRequest(message);
    // JupyterLab activates a tab at each click into it: what was clicked keeps the focus
    const { activeElement } = document;
    if (activeElement === this.node || !this.node.contains(activeElement)) {
      this.focusRequests.set(this.focusRequests.getSnapshot() + 1);
    }
  }

  /** Puts the focus into the message field, wherever it is now. */
  focusComposer(): void {
    this.focusRequests.set(this.focusRequests.getSnapshot() + 1);
  }

  #look(): void {
    this.shown.set(this.isVisible);
    if (!this.#seen && this.isVisible) {
      this.#seen = true;
      this.context.start();
      this.update();
    }
  }

  #seen = false;
}
