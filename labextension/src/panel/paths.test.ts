/** A file that an agent names opens when it lies below the server root, and only then. */
import { describe, expect, it } from 'vitest';

import { contentsPath } from './paths';

describe('path of a file that an agent named', () => {
  it.each([
    ['thesis', 'plot.py', 'thesis/plot.py'],
    ['', 'plot.py', 'plot.py'],
    [null, '/home/mara/work/a/b.py', 'a/b.py'],
    ['thesis', '../data/x.csv', 'data/x.csv'],
    ['thesis', '/home/mara/workshop/x', null],
    ['thesis', '/etc/passwd', null],
    ['thesis', '../../x', null],
    ['thesis', '/home/mara/work/../x', null],
  ])('in %j: %s → %s', (project, path, expected) => {
    expect(contentsPath(project, path, '/home/mara/work')).toBe(expected);
  });

  it('works for a server that was started at /', () => {
    expect(contentsPath('', '/etc/hosts', '/')).toBe('etc/hosts');
  });
});
