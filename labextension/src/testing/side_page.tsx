/** The side panel as a page has it: real stores, navigation and views over the fake server. */
import { english, TransContext } from '../components/common/trans';
import { PanelContext, type IPanelContext } from '../panel/context';
import { createNavigation } from '../panel/navigation';
import { NewDraft } from '../panel/newDraft';
import type { Places } from '../panel/places';
import type { ISideModel } from '../panel/sideModel';
import { SidePanelView } from '../panel/SidePanelView';
import { Session } from '../state/session';
import { Value } from '../state/value';
import { CLAUDE } from './chat_page';
import { FakeServer } from './fake_server';
import { plainMarkdown } from './thread_fixtures';

export type SidePage = {
  readonly server: FakeServer;
  readonly session: Session;
  readonly model: ISideModel;
  /** What dialogs asked or told, and the answer to the next question. */
  readonly asked: string[];
  readonly answer: { stop: boolean };
  readonly element: React.JSX.Element;
};

/** `prepare` fills the server before it is asked. */
export function sidePage(prepare: (server: FakeServer) => void): SidePage {
  const server = new FakeServer();
  server.answers.set('GET providers', () => Response.json({ providers: [CLAUDE] }));
  prepare(server);
  const session = new Session(server, { schedule: task => void setTimeout(task, 0) });
  const openId = new Value<string | null>(null);
  const model: ISideModel = {
    openId,
    tabId: new Value<string | null>(null),
    renamingId: new Value<string | null>(null),
    searchWanted: new Value(false),
    trashOpen: new Value(false),
    draft: new NewDraft(),
  };
  const places = {
    open: (id: string) => openId.set(id),
    close: (id: string) => {
      const open = openId.getSnapshot() === id;
      if (open) {
        openId.set(null);
      }
      return open;
    },
    showList: () => openId.set(null),
    showPanel: () => undefined,
  } as unknown as Places;
  const asked: string[] = [];
  const answer = { stop: false };
  const dialogs = {
    confirmStop: (title: string) => {
      asked.push(title);
      return Promise.resolve(answer.stop);
    },
    showFailure: (title: string) => void asked.push(title),
  };
  const context = {
    session,
    status: new Value(null),
    preferences: new Value({ sendKey: 'enter', openChatsIn: 'side' }),
    navigation: createNavigation(session, places, () => undefined, dialogs, english),
    host: {
      listFolder: () => Promise.resolve([]),
      copyText: () => undefined,
      showMenu: () => undefined,
      openTerminal: null,
    },
    markdown: plainMarkdown,
    highlight: null,
    trans: english,
  } as unknown as IPanelContext;
  session.start();
  server.sockets.last.welcome(server.epoch);
  const element = (
    <PanelContext.Provider value={context}>
      <TransContext.Provider value={english}>
        <SidePanelView model={model} focusRequests={new Value(0)} />
      </TransContext.Provider>
    </PanelContext.Provider>
  );
  return { server, session, model, asked, answer, element };
}
