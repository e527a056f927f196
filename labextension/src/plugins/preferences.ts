/** The person's settings; the defaults hold until JupyterLab has loaded them. */
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ISettingRegistry } from '@jupyterlab/settingregistry';

import type { IPreferences, Place } from '../panel/context';
import { Value } from '../state/value';
import { IAgentChatPreferences } from './tokens';

/** Also the name of the schema. */
const ID = 'jupyter-agentchat:plugin';

function preferencesOf(settings: ISettingRegistry.ISettings): IPreferences {
  const { sendKey, openChatsIn } = settings.composite;
  return {
    sendKey: sendKey === 'ctrl_enter' ? 'ctrl_enter' : 'enter',
    openChatsIn: openChatsIn === 'main' ? 'main' : 'side',
  };
}

export const preferences: JupyterFrontEndPlugin<IAgentChatPreferences> = {
  id: ID,
  description: 'Settings of the chats with coding agents.',
  autoStart: true,
  optional: [ISettingRegistry],
  provides: IAgentChatPreferences,
  activate: (_: JupyterFrontEnd, registry: ISettingRegistry | null): IAgentChatPreferences => {
    const values = new Value<IPreferences>({ sendKey: 'enter', openChatsIn: 'side' });
    let settings: ISettingRegistry.ISettings | null = null;
    registry?.load(ID).then(
      loaded => {
        const update = () => values.set(preferencesOf(loaded));
        settings = loaded;
        loaded.changed.connect(update);
        update();
      },
      () => undefined, // the defaults hold; the settings editor shows what is wrong
    );
    return {
      values,
      rememberPlace: (place: Place) => {
        if (place !== values.getSnapshot().openChatsIn) {
          values.set({ ...values.getSnapshot(), openChatsIn: place });
          settings?.set('openChatsIn', place).catch(() => undefined); // holds for this page then
        }
      },
    };
  },
};
