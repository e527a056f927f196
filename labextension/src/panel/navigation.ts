/** Making, opening and removing chats: what the views and the commands both do. */
import { Dialog, showDialog, showErrorMessage } from '@jupyterlab/apputils';

import type { Trans } from '../components/common/trans';
import { failureWords } from '../components/common/failureWords';
import { chatTitle } from '../components/list/words';
import { TOUR } from '../components/start/StartState';
import type { Chat } from '../protocol/generated';
import { failureOf } from '../state/failure';
import type { ISession } from '../state/stores';
import type { INavigation, Place } from './context';
import type { Places } from './places';

/** Nothing was said in it, and nobody gave it a name. */
function isUntouched({ last_seq, title, state, archived }: Chat): boolean {
  return last_seq === 0 && title === '' && state === 'idle' && !archived;
}

export function createNavigation(
  session: ISession,
  places: Places,
  remember: (place: Place) => void,
  trans: Trans,
): INavigation {
  const report = (title: string) => (error: unknown) => {
    void showErrorMessage(title, failureWords(failureOf(error), trans));
  };
  const create: INavigation['create'] = async (settings, place) => {
    const chat = await session.list.create(settings);
    places.open(chat.id, place);
    return chat;
  };
  const start: INavigation['start'] = async (project, place) => {
    const untouched = session.list
      .getSnapshot()
      .groups.flatMap(group => group.days.flatMap(day => day.chats))
      .find(chat => chat.project === project && isUntouched(chat));
    if (untouched) {
      places.open(untouched.id, place);
      return untouched;
    }
    return create({ project }, place);
  };
  const begin: INavigation['begin'] = async (settings, text) => {
    const chat = await session.list.create(settings);
    // the text is safe in the chat's draft from here on, whatever becomes of the prompt
    const store = session.chat(chat.id);
    const release = store.open();
    places.open(chat.id);
    await store.send(text);
    release();
  };
  const remove = async (chat: Chat): Promise<void> => {
    const title = chatTitle(chat.title, trans);
    const running = chat.state !== 'idle' ? ` ${trans.__('Its run is stopped first.')}` : '';
    const answer = await showDialog({
      title: trans.__('Delete this chat?'),
      body: trans.__('“%1” goes to the trash.', title) + running,
      defaultButton: 0,
      buttons: [
        Dialog.cancelButton({ label: trans.__('Cancel') }),
        Dialog.warnButton({ label: trans.__('Delete') }),
      ],
    });
    if (answer.button.accept) {
      await session.list.remove(chat.id);
      places.close(chat.id);
    }
  };
  return {
    open: (id, place) => void places.open(id, place),
    move: (id, place) => {
      remember(place);
      places.move(id, place);
    },
    showList: () => places.showList(),
    create,
    start,
    begin,
    takeTour: () => {
      begin(
        { project: '', provider: TOUR, title: trans.__('Tour') },
        trans.__('Show me around'),
      ).catch(report(trans.__('The tour could not start')));
    },
    rename: (chat, title) => {
      session.list.patch(chat.id, { title }).catch(report(trans.__('The chat was not renamed')));
    },
    remove: chat => {
      remove(chat).catch(report(trans.__('The chat was not deleted')));
    },
  };
}
