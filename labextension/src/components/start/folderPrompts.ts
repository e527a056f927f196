/** Three first prompts made from what is really in the folder; pure. */
import type { Trans } from '../common/trans';

export interface IFolderEntry {
  name: string;
  type: string;
}

const DATA = /\.(csv|tsv|parquet|xlsx|json)$/i;
const TESTS = /^(tests?$|test_.*\.py$|.*_test\.py$)/i;

function first(entries: readonly IFolderEntry[], pattern: RegExp): string | undefined {
  return entries.find(entry => pattern.test(entry.name))?.name;
}

/** At most three; `entries` are the visible entries of the chat's folder, in the order the server lists them. */
export function suggestionsFor(entries: readonly IFolderEntry[], trans: Trans): string[] {
  const sorted = [...entries]
    .filter(entry => !entry.name.startsWith('.'))
    .sort((a, b) => a.name.localeCompare(b.name));
  const files = sorted.filter(entry => entry.type !== 'directory');
  const notebook = first(files, /\.ipynb$/i);
  const source = first(
    files.filter(file => !TESTS.test(file.name)),
    /\.py$/i,
  );
  const data = first(files, DATA);
  const readme = first(files, /^readme/i);
  const explained = notebook ?? source;

  const found: (string | false | undefined)[] = [
    explained && trans.__('Explain %1', explained),
    first(sorted, TESTS) && trans.__('Run the tests and tell me what fails'),
    data && trans.__('Describe the data in %1', data),
    readme && trans.__('Summarise %1', readme),
    source && source !== explained && trans.__('Look for mistakes in %1', source),
    trans.__('Write a small notebook that plots a sine wave'),
    trans.__('What can you do here?'),
  ];
  const chosen = found.filter(text => typeof text === 'string').slice(0, 2);
  return [trans.__('What is in this folder?'), ...chosen];
}
