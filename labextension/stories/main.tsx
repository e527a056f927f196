/** A page that draws one story: `#name/theme/width`. `node stories/build.mjs OUT`; not part of the extension. */
import { Sanitizer } from '@jupyterlab/apputils';
import { EditorLanguageRegistry } from '@jupyterlab/codemirror';
import { createMarkdownParser } from '@jupyterlab/markedparser-extension';
import { StrictMode, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';

import { AskArea } from '../src/components/ask/AskArea';
import { ServicesContext, type IThreadServices } from '../src/components/common/services';
import { english } from '../src/components/common/trans';
import { createHighlight } from '../src/components/markdown/highlight';
import { mountHighlightStyle } from '../src/components/markdown/highlightStyle';
import { MarkdownRenderer } from '../src/components/markdown/renderer';
import { PlanCard } from '../src/components/thread/PlanCard';
import { Thread } from '../src/components/thread/Thread';
import { WorkingLine } from '../src/components/thread/WorkingLine';
import type { RunView, ThreadView } from '../src/state/stores';
import type { Turn } from '../src/state/view';
import { ChatScene } from './ChatScene';
import { CHAT_STORIES } from './chats';
import { LIST_STORIES } from './lists';
import { ListScene } from './ListScene';
import { STORIES } from './stories';

const languages = new EditorLanguageRegistry();
EditorLanguageRegistry.getDefaultLanguages().forEach(language => languages.addLanguage(language));

function folds(): IThreadServices['folds'] {
  let open = new Map<string, boolean>();
  const listeners = new Set<() => void>();
  return {
    subscribe: listener => (listeners.add(listener), () => listeners.delete(listener)),
    getSnapshot: () => open,
    isOpen: (key, byDefault) => open.get(key) ?? byDefault,
    set: (key, value) => {
      open = new Map(open).set(key, value);
      listeners.forEach(listener => listener());
    },
  };
}

const services: IThreadServices = {
  names: {
    agent: id => (id === null ? 'Agent' : 'Claude Code'),
    model: () => 'Sonnet',
    me: 'owner',
  },
  folds: folds(),
  markdown: new MarkdownRenderer(
    { parser: createMarkdownParser(languages), sanitizer: new Sanitizer(), typesetter: null },
    english,
  ),
  highlight: createHighlight(languages),
  copyText: value => console.info('copy', value),
  openFile: (path, line) => console.info('open', path, line),
  openTerminal: () => console.info('terminal'),
  blobUrl: id => `#${id}`,
};

const [name = 'finished', theme = 'light', width = '1100'] = location.hash.slice(1).split('/');
const chatStory = CHAT_STORIES[name];
const listStory = LIST_STORIES[name];
const story = STORIES[name] ?? STORIES['finished']!;
const run: RunView = {
  known: true,
  running: false,
  remote: false,
  holder: null,
  maySteer: false,
  runId: 'r',
  runningKey: null,
  phase: 'idle',
  asks: story.asks ?? [],
  queue: [],
  queuePaused: false,
  pauseReason: null,
  stopping: null,
  lastOutputAt: null,
  ...story.run,
};

/** With `#live/…` the last text of the story is written word by word. */
function useLiveTurns(): { turns: Turn[]; writing: boolean } {
  const [length, setLength] = useState(0);
  const last = story.turns.at(-1);
  const whole = last?.parts.findLast(part => part.type === 'text')?.text ?? '';
  const live = name === 'live' && length < whole.length;
  useEffect(() => {
    if (!live) {
      return undefined;
    }
    const timer = setTimeout(() => setLength(now => now + 12), 30);
    return () => clearTimeout(timer);
  }, [live, length]);
  if (last === undefined || name !== 'live') {
    return { turns: story.turns, writing: false };
  }
  const parts = last.parts.map(part =>
    part.type === 'text' ? { ...part, text: whole.slice(0, length), done: !live } : part,
  );
  return {
    turns: [...story.turns.slice(0, -1), { ...last, parts, complete: live ? null : last.complete }],
    writing: live,
  };
}

function Page(): React.JSX.Element {
  const { turns, writing } = useLiveTurns();
  const [shown, setShown] = useState(20);
  const [stopping, setStopping] = useState<RunView['stopping']>(null);
  const [loadingOlder, setLoading] = useState(false);
  const view: ThreadView = {
    state: 'ready',
    failure: null,
    turns: turns.slice(-shown),
    hasOlder: shown < turns.length,
    loadingOlder,
    pending: [],
  };
  return (
    <section className="ac-root jp-AgentChat" style={{ width: `${width}px`, height: '100vh' }}>
      <Thread
        view={view}
        run={writing ? { running: true, runningKey: turns.at(-1)?.key ?? null } : run}
        onLoadOlder={() => {
          setLoading(true);
          setTimeout(() => {
            setLoading(false);
            setShown(now => now + 10);
          }, 200);
        }}
        onReload={() => undefined}
        onRetry={() => console.info('retry')}
      />
      <div className="ac-foot">
        <div className="ac-foot-in">
          <WorkingLine
            run={{ ...run, stopping }}
            turn={story.turns.at(-1) ?? null}
            onStop={() => setStopping(now => (now === null ? 'asked' : 'force'))}
          />
          <PlanCard entries={story.plan ?? null} running={run.running} />
          <AskArea
            locked={false}
            asks={run.asks}
            agentName="Claude Code"
            onShow={id => console.info('show', id)}
            takeFocus={false}
            onAnswer={async (id, answer) => {
              console.info(id, JSON.stringify(answer));
              return {
                ok: false,
                failure: { code: 'network', message: 'Only a story.', details: {} },
              };
            }}
          />
          <textarea
            style={{ width: '100%', margin: '0 0 8px' }}
            rows={2}
            aria-label="Message"
            placeholder="the composer stands here"
          />
        </div>
      </div>
    </section>
  );
}

document.body.dataset['jpThemeLight'] = String(theme === 'light');
document.body.dataset['jpThemeName'] =
  { light: 'JupyterLab Light', dark: 'JupyterLab Dark', hc: 'JupyterLab Dark High Contrast' }[
    theme
  ] ?? '';
document.querySelector<HTMLLinkElement>('#theme')!.href = `theme-${theme}.css`;
mountHighlightStyle();
createRoot(document.querySelector('#root')!).render(
  listStory ? (
    <ListScene story={listStory} width={width} />
  ) : chatStory ? (
    // not strict: what a scene does is done once
    <ChatScene story={chatStory} markdown={services.markdown} width={width} />
  ) : (
    <StrictMode>
      <ServicesContext.Provider value={services}>
        <Page />
      </ServicesContext.Provider>
    </StrictMode>
  ),
);
