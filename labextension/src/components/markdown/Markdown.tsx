/** Markdown that may still be growing: finished blocks are rendered once, only the tail again. */
import { memo, useMemo, useState } from 'react';

import { BlockSplitter, type Block } from '../../markdown/splitter';
import { COPIED_MS } from '../common/CopyButton';
import { useServices } from '../common/services';
import { useTrans } from '../common/trans';
import { loadPicture } from './decorate';
import { OpenFence } from './OpenFence';
import { useRenderedBlock } from './useRenderedBlock';

export interface IMarkdownProps {
  text: string;
  /** False while more may come. */
  done: boolean;
}

/** So many blocks are compared together: what React looks at stays small however long the text is. */
const GROUP = 32;

function groupsOf(blocks: readonly Block[]): Block[][] {
  const groups: Block[][] = [];
  for (let from = 0; from < blocks.length; from += GROUP) {
    groups.push(blocks.slice(from, from + GROUP));
  }
  return groups;
}

function RenderedBlock({ source, live }: { source: string; live: boolean }): React.JSX.Element {
  return <div className="ac-block" ref={useRenderedBlock(source, live)} />;
}

interface IGroupProps {
  blocks: readonly Block[];
  /** The block that is still growing, if it is in here. */
  tail: Block | null;
}

const BlockGroup = memo(
  function BlockGroup({ blocks, tail }: IGroupProps) {
    return (
      <div className={blocks.length === GROUP ? 'ac-blocks ac-mod-full' : 'ac-blocks'}>
        {blocks.map(block =>
          block.openFence !== null ? (
            <OpenFence key={block.key} info={block.openFence.info} code={block.openFence.code} />
          ) : (
            <RenderedBlock key={block.key} source={block.render} live={block === tail} />
          ),
        )}
      </div>
    );
  },
  (before, after) =>
    before.tail === after.tail &&
    before.blocks.length === after.blocks.length &&
    before.blocks.every((block, index) => block === after.blocks[index]),
);

/** Renders `text`; clicks on its buttons act through the thread's services. */
export const Markdown = memo(function Markdown({ text, done }: IMarkdownProps) {
  const services = useServices();
  const trans = useTrans();
  const [splitter] = useState(() => new BlockSplitter());
  const { blocks, tail } = useMemo(() => splitter.update(text, done), [splitter, text, done]);
  const all = tail === null ? blocks : [...blocks, tail];

  const act = (event: React.MouseEvent): void => {
    const target = event.target instanceof Element ? event.target.closest('button') : null;
    if (target === null) {
      return;
    }
    const { acPath, acLine, acImage, acCopy } = target.dataset;
    // a button may stand inside a link
    event.preventDefault();
    if (acPath !== undefined) {
      services.openFile(acPath, acLine === undefined ? undefined : Number(acLine));
    } else if (acImage !== undefined) {
      loadPicture(target);
    } else if (acCopy !== undefined) {
      services.copyText(target.closest('.ac-code')?.querySelector('pre')?.textContent ?? '');
      target.textContent = trans.__('Copied');
      setTimeout(() => {
        target.textContent = trans.__('Copy');
      }, COPIED_MS);
    }
  };

  return (
    // the buttons inside are real ones; this only hears their clicks
    // eslint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions
    <div className={done ? 'ac-prose' : 'ac-prose ac-mod-live'} onClick={act}>
      {groupsOf(all).map((blocks, index) => {
        const grows = tail !== null && blocks.includes(tail);
        return <BlockGroup key={index} blocks={blocks} tail={grows ? tail : null} />;
      })}
    </div>
  );
});
