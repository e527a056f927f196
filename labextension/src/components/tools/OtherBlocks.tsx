/** Output that is not text: pictures, and what is kept beside the log because it is large. */
import type { ToolPart } from '../../state/view';
import { formatBytes } from '../common/format';
import { useServices } from '../common/services';
import { useTrans } from '../common/trans';
import { otherBlocks } from './output';

const PICTURE = /^image\/(?:png|jpeg|gif|webp|avif|bmp|svg\+xml)$/i;

/** Pictures as pictures; outputs kept beside the log as links. */
export function OtherBlocks({ tool }: { tool: ToolPart }): React.JSX.Element | null {
  const trans = useTrans();
  const { blobUrl } = useServices();
  return (
    <>
      {otherBlocks(tool).map((block, index) => {
        if (block.type === 'image') {
          return PICTURE.test(block.mime) ? (
            <img
              key={index}
              className="ac-tool-picture"
              alt={trans.__('Output of the tool')}
              src={`data:${block.mime};base64,${block.data}`}
            />
          ) : null;
        }
        const words = trans.__('The whole output is %1.', formatBytes(block.size));
        return (
          <p className="ac-tool-note" key={index}>
            {words}{' '}
            {blobUrl === null ? null : (
              <a href={blobUrl(block.blob_id)} target="_blank" rel="noopener noreferrer">
                {trans.__('Download')}
              </a>
            )}
          </p>
        );
      })}
    </>
  );
}
