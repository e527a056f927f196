/** Making, opening and removing chats: what the views and the commands both do. */
import type { Trans } from '../components/common/trans';
import { failureWords } from '../components/common/failureWords';
import { chatTitle } from '../components/list/words';
import { TOUR } from '../components/start/StartState';
import type { Chat } from '../protocol/generated';
import { failureOf } from '../state/failure';
import type { ISession } from '../state/stores';
import type { IDialogs, INavigation, Place } from './context';
import type { Places } from './places';

/** Nothing was said in it, and nobody gave it a name. */
function isUntouched({ last_seq, title, state, archived }: Chat): boolean {
  return last_seq === 0 && title === '' && state === 'idle' && !archived;
}

export function createNavigation(
  session: ISession,
  places: Places,
  remember: (place: Place) => void,
  dialogs: IDialogs,
  trans: Trans,
): INavigation {
  const report = (title: string) => (error: unknown) => {
    dialogs.showFailure(title, failureWords(failureOf(error), trans));
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
    if (chat.state !== 'idle' && !(await dialogs.confirmStop(chatTitle(chat.title, trans)))) {
      return;
    }
    const shown = places.close(chat.id);
    await session.list.remove(chat.id);
    if (shown) {
      // the way back stands there
      places.showPanel();
    }
  };
  return {
    open: (id, place, at) => {
      places.open(id, place);
      if (at !== undefined) {
        void session.chat(id).jump.to(at.seq, at.match);
      }
    },
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
