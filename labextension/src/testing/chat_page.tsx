/** A chat as a page has it: real stores and view over the fake server, without JupyterLab around them. */
import { english, TransContext } from '../components/common/trans';
import type { IMarkdownRenderer } from '../components/markdown/renderer';
import { ChatView } from '../panel/ChatView';
import { PanelContext, type IPanelContext } from '../panel/context';
import type { ChatEvent, Provider } from '../protocol/generated';
import { Session } from '../state/session';
import { Value } from '../state/value';
import { chatRow, FakeServer } from './fake_server';

export const CLAUDE = {
  id: 'claude',
  name: 'Claude Code',
  available: true,
  state: 'ready',
  models: [],
  modes: [],
  permissions: [],
  permission_notes: {},
} as unknown as Provider;

export type ChatPage = {
  readonly server: FakeServer;
  readonly session: Session;
  /** Chats that were opened from here. */
  readonly opened: string[];
  readonly element: React.JSX.Element;
};

/** The chat `c1` with these events in its log; `prepare` sets answers before it is opened. */
export function chatPage(
  events: readonly ChatEvent[],
  markdown: IMarkdownRenderer,
  prepare: (server: FakeServer) => void = () => undefined,
): ChatPage {
  const server = new FakeServer();
  server.events = [...events];
  server.rows = [
    chatRow('c1', { provider: 'claude', model: null, title: 'Weekend error' }),
    chatRow('parent', { title: 'Where it began' }),
  ];
  server.answers.set('GET providers', () => Response.json({ providers: [CLAUDE] }));
  prepare(server);
  const session = new Session(server, { schedule: task => void setTimeout(task, 0) });
  const opened: string[] = [];
  const context = {
    session,
    status: new Value(null),
    preferences: new Value({ sendKey: 'enter', openChatsIn: 'side' }),
    navigation: {
      showList: () => undefined,
      move: () => undefined,
      open: (id: string) => opened.push(id),
    },
    host: {
      listFolder: () => Promise.resolve([]),
      copyText: () => undefined,
      openTerminal: null,
    },
    markdown,
    highlight: null,
    trans: english,
  } as unknown as IPanelContext;
  session.start();
  server.sockets.last.welcome(server.epoch);
  const element = (
    <PanelContext.Provider value={context}>
      <TransContext.Provider value={english}>
        <ChatView id="c1" place="side" focusRequests={new Value(0)} />
      </TransContext.Provider>
    </PanelContext.Provider>
  );
  return { server, session, opened, element };
}
