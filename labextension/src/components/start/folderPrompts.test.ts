/** The first prompts speak about files that exist. */
import { describe, expect, it } from 'vitest';

import { english } from '../common/trans';
import { suggestionsFor } from './folderPrompts';

function inFolder(...names: string[]): string[] {
  const entries = names.map(name =>
    name.endsWith('/')
      ? { name: name.slice(0, -1), type: 'directory' }
      : { name, type: name.endsWith('.ipynb') ? 'notebook' : 'file' },
  );
  return suggestionsFor(entries, english);
}

describe('suggestions', () => {
  it('explains the notebook and runs the tests of a project', () => {
    expect(inFolder('tests/', 'train.py', 'explore.ipynb', 'hourly.csv')).toEqual([
      'What is in this folder?',
      'Explain explore.ipynb',
      'Run the tests and tell me what fails',
    ]);
  });

  it('does not call a folder or a test a source to explain', () => {
    expect(inFolder('test_a.py', 'z.py', 'code.py/', 'README.md')).toEqual([
      'What is in this folder?',
      'Explain z.py',
      'Run the tests and tell me what fails',
    ]);
  });

  it('names no hidden file', () => {
    expect(inFolder('.secrets.json', '.a.py').join()).not.toContain('.');
  });

  it('has three also for an empty folder', () => {
    expect(inFolder()).toHaveLength(3);
  });
});
