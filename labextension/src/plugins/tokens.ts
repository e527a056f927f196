/** What our plugins hand to each other, and to extensions of others. */
import { Token } from '@lumino/coreutils';

import type { Status } from '../client/answers';
import type { IPanelContext, IPreferences, Place } from '../panel/context';
import type { Places } from '../panel/places';
import type { ISideModel } from '../panel/sideModel';
import type { IReadable, ISession } from '../state/stores';

/** The page's one connection to the server and its stores. */
export interface IAgentChatSession {
  readonly session: ISession;
  readonly status: IReadable<Status | null>;
}

export const IAgentChatSession = new Token<IAgentChatSession>(
  'jupyter-agentchat:IAgentChatSession',
  'Chats with coding agents: the stores of this page.',
);

/** The person's settings. */
export interface IAgentChatPreferences {
  readonly values: IReadable<IPreferences>;
  /** Stores where this person opens chats. */
  rememberPlace(place: Place): void;
}

export const IAgentChatPreferences = new Token<IAgentChatPreferences>(
  'jupyter-agentchat:IAgentChatPreferences',
  'Settings of the chats with coding agents.',
);

/** The panel and the tabs. */
export interface IAgentChatPanel {
  readonly context: IPanelContext;
  readonly places: Places;
  readonly model: ISideModel;
}

export const IAgentChatPanel = new Token<IAgentChatPanel>(
  'jupyter-agentchat:IAgentChatPanel',
  'The side panel and the tabs that show chats with coding agents.',
);
