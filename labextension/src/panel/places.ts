/** Where chats are shown: opens them in the side panel or the main area, and remembers which. */
import type { ILabShell, JupyterFrontEnd } from '@jupyterlab/application';
import { MainAreaWidget, WidgetTracker } from '@jupyterlab/apputils';

import type { IPanelContext, Place } from './context';
import type { ISideModel } from './sideModel';
import { ChatTab, SIDE_PANEL_ID, type SidePanel } from './widgets';

export type ChatTabWidget = MainAreaWidget<ChatTab>;

export class Places {
  /** Tabs of the main area, for the layout restorer. */
  readonly tabs = new WidgetTracker<ChatTabWidget>({ namespace: 'agentchat' });

  constructor(
    private readonly shell: JupyterFrontEnd.IShell | ILabShell,
    private readonly model: ISideModel,
    private readonly preferred: () => Place,
  ) {
    this.tabs.currentChanged.connect((_, tab) => model.tabId.set(tab?.content.chatId ?? null));
  }

  /** Called once, before anything is opened. */
  connect(context: IPanelContext, side: SidePanel): void {
    this.#context = context;
    this.#side = side;
  }

  /** Shows the side panel as it is: the list, or the chat that was open there. */
  showPanel(): void {
    this.shell.activateById(SIDE_PANEL_ID);
  }

  showList(): void {
    this.model.openId.set(null);
  }

  /** The widget that shows the chat now. Without a place: where it is open already, else where this person opens. */
  open(id: string, place?: Place, activate = true): ChatTabWidget | SidePanel | undefined {
    const tab = this.tabOf(id);
    const wanted = place ?? (tab ? 'main' : this.preferred());
    if (wanted === 'main') {
      return this.#openTab(id, activate);
    }
    this.model.openId.set(id);
    if (activate) {
      this.showPanel();
    }
    return this.#side;
  }

  /** Opens it there and closes it where it was. */
  move(id: string, place: Place): void {
    if (place === 'main') {
      if (this.model.openId.getSnapshot() === id) {
        this.showList();
      }
      this.#openTab(id, true);
    } else {
      this.tabOf(id)?.dispose();
      this.open(id, 'side');
    }
  }

  /** The chat is gone: nothing shows it any longer. True when something did. */
  close(id: string): boolean {
    const tab = this.tabOf(id);
    tab?.dispose();
    const open = this.model.openId.getSnapshot() === id;
    if (open) {
      this.showList();
    }
    return open || tab !== undefined;
  }

  tabOf(id: string): ChatTabWidget | undefined {
    return this.tabs.find(tab => tab.content.chatId === id);
  }

  /** The chat that a command without an id means: the tab in front, else the one in the side panel. */
  currentId(): string | null {
    const tab = this.tabs.currentWidget;
    if (tab?.isVisible) {
      return tab.content.chatId;
    }
    return this.model.openId.getSnapshot();
  }

  focusComposer(): void {
    const tab = this.tabs.currentWidget;
    if (tab?.isVisible) {
      this.shell.activateById(tab.id);
      tab.content.focusComposer();
    } else {
      this.showPanel();
      this.#side?.focusComposer();
    }
  }

  #openTab(id: string, activate: boolean): ChatTabWidget | undefined {
    let tab = this.tabOf(id);
    if (!tab && this.#context) {
      const content = new ChatTab(this.#context, id);
      tab = new MainAreaWidget({ content });
      tab.id = `agentchat-tab-${id}`;
      tab.toolbar.hide();
      void this.tabs.add(tab);
      this.shell.add(tab, 'main', { activate });
    }
    if (tab && activate) {
      this.shell.activateById(tab.id);
    }
    return tab;
  }

  #context: IPanelContext | null = null;
  #side: SidePanel | undefined;
}
