/** What a person is told about a call that failed: the server's own words, or ours where it said nothing. */
import type { Failure } from '../../state/stores';
import type { Trans } from './trans';

/** `kept`: what was typed is still in its field, and will be sent from there. */
export function failureWords(failure: Failure, trans: Trans, kept = false): string {
  if (failure.code !== 'network') {
    return failure.message;
  }
  // a browser's "Failed to fetch" helps nobody
  return kept
    ? trans.__(
        'The Jupyter server does not answer. Your message is kept here; send it again when the server is back.',
      )
    : trans.__('The Jupyter server does not answer. Try again when it is back.');
}
