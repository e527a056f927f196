import { describe, expect, it } from 'vitest';

import { findFormulas } from './math';

function found(text: string): string[] {
  return findFormulas(text).map(({ source, display, start, end }) => {
    expect(text.slice(start, end)).toBe(source);
    return display ? `display ${source}` : source;
  });
}

describe('formulas', () => {
  it.each([
    ['$x$', ['$x$']],
    ['with $a_1$ and $b$.', ['$a_1$', '$b$']],
    ['$$\nx\n= y\n$$', ['display $$\nx\n= y\n$$']],
    ['$$x$$ and $y$', ['display $$x$$', '$y$']],
    ['\\(x\\) and \\[y\n+ z\\]', ['\\(x\\)', 'display \\[y\n+ z\\]']],
    ['\\begin{align}a &= b\\end{align}', ['display \\begin{align}a &= b\\end{align}']],
    ['$\\$5 + x$', ['$\\$5 + x$']],
    ['line $a +\nb$ end', ['$a +\nb$']],
    ['$f(x)$, $g$-like', ['$f(x)$', '$g$']],
  ])('in %j are found', (text, formulas) => {
    expect(found(text)).toEqual(formulas);
  });
});

describe('money and other dollars', () => {
  it.each([
    'It costs $5 and $6 today',
    'between $100 and $200',
    '\\$5 and \\$6',
    '$5',
    'a $ b $ c',
    '$ x$ and $x $',
    'US$5 to A$6',
    '$a\n\nb$',
    '$$\n\n$$',
    '$$a\n\nb$$',
    '\\\\(not\\\\)',
    '\\begin{table}x\\end{table}',
    '\\(open',
    '$$',
    '',
  ])('in %j stay text', text => {
    expect(found(text)).toEqual([]);
  });

  it('beside a formula do not swallow it', () => {
    expect(found('pay $5 or $6, but $x$ is math')).toEqual(['$x$']);
  });
});
