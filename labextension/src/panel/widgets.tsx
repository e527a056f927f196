/** The two Lumino widgets that show chats: the side panel and a tab of the main area. */
import { chatIcon } from '../components/icons/labIcons';
import { chatTitle, needsWords } from '../components/list/words';
import type { Chat } from '../protocol/generated';
import { ChatView } from './ChatView';
import type { IPanelContext } from './context';
import { LateWidget } from './LateWidget';
import type { ISideModel } from './sideModel';
import { SidePanelView } from './SidePanelView';

/** Stable: layouts remember it. */
export const SIDE_PANEL_ID = 'agentchat-panel';

export class SidePanel extends LateWidget {
  constructor(
    context: IPanelContext,
    private readonly model: ISideModel,
  ) {
    super(context);
    this.id = SIDE_PANEL_ID;
    this.title.icon = chatIcon;
    this.#endMark = context.session.list.subscribe(() => this.#showMark());
    this.#showMark();
  }

  override dispose(): void {
    this.#endMark();
    super.dispose();
  }

  protected override renderView(): React.JSX.Element {
    return <SidePanelView model={this.model} focusRequests={this.focusRequests} />;
  }

  /** How many chats need a person, on the panel's icon (drawn by `list.css`) and in its name. */
  #showMark(): void {
    const { trans, session } = this.context;
    const { needsYou } = session.list.getSnapshot().counts;
    const mark = needsYou === 0 ? '' : needsYou > 9 ? '9+' : String(needsYou);
    const caption =
      needsYou === 0
        ? trans.__('Agent chats')
        : trans.__('Agent chats, %1', needsWords(needsYou, trans));
    if (caption !== this.title.caption) {
      // JupyterLab keeps its own things in there
      this.title.dataset = { ...this.title.dataset, 'ac-needs': mark };
      this.title.caption = caption;
    }
  }

  readonly #endMark: () => void;
}

export class ChatTab extends LateWidget {
  constructor(
    context: IPanelContext,
    readonly chatId: string,
  ) {
    super(context);
    this.title.icon = chatIcon;
    this.title.closable = true;
    this.title.label = context.trans.__('Chat');
    this.#endTitle = context.session.list.subscribe(() => this.#showTitle());
    this.#showTitle();
  }

  override dispose(): void {
    this.#endTitle();
    super.dispose();
  }

  protected override renderView(): React.JSX.Element {
    return <ChatView id={this.chatId} place="main" focusRequests={this.focusRequests} />;
  }

  #showTitle(): void {
    const chat: Chat | undefined = this.context.session.list.get(this.chatId);
    if (chat) {
      const label = chatTitle(chat.title, this.context.trans);
      this.title.label = label;
      this.title.caption = label;
    }
  }

  readonly #endTitle: () => void;
}
