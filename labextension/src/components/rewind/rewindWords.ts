/** The words of a rewind. */
import type { FileRestore, RewindResult } from '../../protocol/generated';
import type { CutCounts } from '../../state/aftermath';
import type { Trans } from '../common/trans';

export function changeWords(change: FileRestore['change'], trans: Trans): string {
  switch (change) {
    case 'restore':
      return trans.__('Restored');
    case 'create':
      return trans.__('Comes back: it was deleted since');
    case 'delete':
      return trans.__('Deleted: it was created since');
  }
}

/** `empty`: nothing of the conversation stays. */
export function methodWords(
  method: RewindResult['method'],
  empty: boolean,
  agent: string,
  trans: Trans,
): string {
  if (empty) {
    return trans.__('%1 begins anew.', agent);
  }
  return method === 'native'
    ? trans.__('%1 rewinds its own conversation.', agent)
    : trans.__('%1 starts again with a transcript of what stays.', agent);
}

/** Without answers only the prompts are counted. */
export function cutWords({ prompts, answers }: CutCounts, trans: Trans): string {
  const asked = trans._n('%1 prompt', '%1 prompts', prompts);
  const words =
    answers === 0
      ? asked
      : trans.__('%1 and %2', asked, trans._n('%1 answer', '%1 answers', answers));
  return prompts === 0
    ? trans.__('Messages from this point forward will be removed.')
    : trans.__('Messages from this point forward will be removed: %1.', words);
}

export function returnWords(attachments: number, trans: Trans): string {
  return attachments === 0
    ? trans.__('The prompt returns to the composer, where you can change it. You can undo this.')
    : trans._n(
        'The prompt and its attachment return to the composer, where you can change them. You can undo this.',
        'The prompt and its %1 attachments return to the composer, where you can change them. You can undo this.',
        attachments,
      );
}
