/** What came out of a tool call, whether it still runs or has ended. Pure. */
import type { ContentBlock } from '../../protocol/generated';
import type { ToolPart } from '../../state/view';

/** All text of a call's output: the live one, or the text and JSON of its final blocks. */
export function outputText(tool: ToolPart): string {
  if (tool.output === null) {
    return tool.outputText;
  }
  return tool.output
    .map(block => {
      switch (block.type) {
        case 'text':
          return block.text;
        case 'json':
          return JSON.stringify(block.value, null, 2);
        case 'image':
        case 'blob':
          return '';
      }
    })
    .filter(text => text !== '')
    .join('\n');
}

/** The blocks that are not text: pictures, and outputs kept beside the log. */
export function otherBlocks(
  tool: ToolPart,
): Extract<ContentBlock, { type: 'image' } | { type: 'blob' }>[] {
  return (tool.output ?? []).filter(block => block.type === 'image' || block.type === 'blob');
}

/** Whether the call went wrong: failed, or came back as an error. */
export function hasFailed(tool: ToolPart): boolean {
  return tool.status === 'failed' || (tool.status === 'completed' && tool.isError);
}

/** Whether a call must be seen although its group is closed. */
export function isNotable(tool: ToolPart): boolean {
  return hasFailed(tool) || tool.status === 'denied' || tool.status === 'running';
}
