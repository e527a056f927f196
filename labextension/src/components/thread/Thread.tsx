/** The conversation: turns in pages, older ones on demand, the end in sight until the reader leaves it. */
import { forwardRef, useCallback, useEffect, useImperativeHandle, useState } from 'react';

import { pinnedPlan } from '../../state/select';
import type { IReading, JumpTarget, RunView, ThreadView } from '../../state/stores';
import type { Turn } from '../../state/view';
import { Button } from '../common/Button';
import { Spinner } from '../common/Spinner';
import { useTrans } from '../common/trans';
import { JumpToLatest } from './JumpToLatest';
import { Page } from './Page';
import { pagesOf } from './pages';
import { ThreadState } from './ThreadState';
import { UserMessage } from './UserMessage';
import { useFollow } from './useFollow';
import { useJump } from './useJump';
import { useShownTurns } from './useShownTurns';

export interface IThreadProps {
  view: ThreadView;
  run: Pick<RunView, 'running' | 'runningKey'>;
  /** Where the person reads; remembered outside, since a thread is built anew where it is moved to. */
  reading?: IReading;
  /** The event to go to; `onJumped` is called when it is in sight. */
  target?: JumpTarget | null;
  onJumped?: () => void;
  /** Loads older turns; may be called often. */
  onLoadOlder: () => void;
  /** Loads the chat again after a failure. */
  onReload: () => void;
  /** Sends the prompt of this (last, failed) turn again, or goes on with it where it was interrupted. */
  onRetry: (turn: Turn) => void;
}

export interface IThreadHandle {
  /** Scrolls to the call or the ask that the id names; false when it is not on the page. */
  reveal(id: string): boolean;
  jumpToLatest(): void;
}

const nothing = (): void => undefined;

/** From the top of the scroller, px: nearer than this older turns are loaded. */
const NEAR_TOP = 800;

function useLoadOlder(scroller: HTMLElement | null, view: ThreadView, load: () => void): void {
  const wanted = view.state === 'ready' && view.hasOlder && !view.loadingOlder;
  useEffect(() => {
    if (scroller === null || !wanted) {
      return undefined;
    }
    const look = (): void => {
      if (scroller.scrollTop < NEAR_TOP && scroller.clientHeight > 0) {
        load();
      }
    };
    look();
    scroller.addEventListener('scroll', look, { passive: true });
    return () => {
      scroller.removeEventListener('scroll', look);
    };
  }, [scroller, wanted, load, view.turns.length]);
}

/** The run that can be tried again or gone on with: the last one, failed or interrupted, nothing running. */
function retryableTurn(view: ThreadView, running: boolean): Turn | null {
  const last = view.turns.findLast(turn => turn.runId !== null);
  const outcome = last?.complete?.outcome;
  const open = outcome === 'interrupted' || (outcome === 'failed' && last?.user !== null);
  return last && open && !running && view.pending.length === 0 ? last : null;
}

export const Thread = forwardRef<IThreadHandle, IThreadProps>(function Thread(props, ref) {
  const { view, run, reading, onLoadOlder, onReload, onRetry } = props;
  const trans = useTrans();
  const [scroller, setScroller] = useState<HTMLElement | null>(null);
  const [content, setContent] = useState<HTMLElement | null>(null);
  const { shown, origin } = useShownTurns(view.turns, scroller);
  const { follow, release, follows, news } = useFollow(scroller, content, view, reading);
  const wanted = useJump({
    target: props.target ?? null,
    turns: shown,
    scroller,
    release,
    onDone: props.onJumped ?? nothing,
  });
  useLoadOlder(scroller, view, onLoadOlder);

  useImperativeHandle(ref, () => ({
    jumpToLatest: follow,
    reveal: id => {
      const marked = scroller?.querySelectorAll<HTMLElement>('[data-ac-tool], [data-ac-ask]') ?? [];
      const found = [...marked].find(({ dataset }) => id === (dataset.acTool ?? dataset.acAsk));
      found?.scrollIntoView({ block: 'center' });
      found?.querySelector<HTMLElement>('button')?.focus({ preventScroll: true });
      return found !== undefined;
    },
  }));

  const retryable = retryableTurn(view, run.running);
  const retry = useCallback(() => {
    if (retryable !== null) {
      onRetry(retryable);
    }
  }, [retryable, onRetry]);
  const planned = pinnedPlan(view.turns);
  const pages = pagesOf(shown, origin);
  const onPage = (key: string | null | undefined, turns: readonly Turn[]): string | null =>
    key != null && turns.some(turn => turn.key === key) ? key : null;

  return (
    <div className="ac-thread-frame">
      <div
        className="ac-thread"
        ref={setScroller}
        role="log"
        aria-label={trans.__('Conversation')}
        aria-live="polite"
        // it scrolls, so the keyboard must reach it
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
      >
        <div className="ac-turns" ref={setContent}>
          <ThreadState view={view} onReload={onReload} />
          {view.hasOlder ? (
            <div className="ac-older">
              {view.loadingOlder ? (
                <Spinner label={trans.__('Loading older messages')} />
              ) : (
                <Button small kind="plain" onClick={onLoadOlder}>
                  {trans.__('Load older messages')}
                </Button>
              )}
            </div>
          ) : null}
          {pages.map((page, index) => (
            <Page
              key={page.key}
              page={page}
              root={scroller}
              pinned={index === pages.length - 1}
              liveKey={onPage(run.runningKey, page.turns)}
              retryKey={onPage(retryable?.key, page.turns)}
              planKey={onPage(planned?.key, page.turns)}
              wanted={onPage(wanted, page.turns) !== null}
              onRetry={retry}
            />
          ))}
          {view.pending
            .filter(({ place }) => place === 'thread')
            .map(({ clientId, text, attachments, held }) => (
              <UserMessage
                key={clientId}
                text={text}
                attachments={attachments}
                author={null}
                time={null}
                held={held}
              />
            ))}
        </div>
      </div>
      {follows ? null : <JumpToLatest count={news} onJump={follow} />}
    </div>
  );
});
