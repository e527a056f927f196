/** Markdown as agents write it, with everything that is hard to cut. */

const PLAIN = `# A plan

First we look at the *data*, then we **decide**.
It has two lines.

1. Read \`data.csv\`
2. Plot it:
   - by month

   - by year

   A second paragraph of item two.
3. Done

> A quote
> of two lines
lazy third

| a | b |
|---|---|
| 1 | 2 |

Setext heading
==============

---

Code right after text:
\`\`\`python
def f(x):

    return x  # *not* emphasis

\`\`\`
Text right after code.

    indented code

    still code

The end.
`;

const MATH = `Euler said $e^{i\\pi} + 1 = 0$, and

$$
\\int_0^1 x^2 \\, dx
= \\frac{1}{3}
$$

It costs $5 and $6.

- item with $a_1$ and $b_1$

\\[
x = y
\\]

\`\`\`\`md
\`\`\`
$not math$
\`\`\`
\`\`\`\`

~~~
tilde \`\`\`
~~~

Done with \`$code$\`.
`;

const HTML = `Before.

<details>
<summary>More</summary>

Inside **bold**.

- a

</details>

<div align="center">

# Centred

</div>

<your-name>

After, with <b>inline</b> html.

<!-- a comment

with a blank line -->

Last.
`;

const LISTS = `- a

- b
  - nested

    paragraph in nested

        code in list

- c
* other list

1) one

2) two

text

10. ten

   \`\`\`sh
   ls

   \`\`\`

11. eleven
- [ ] task
- [x] done

Para
# Heading interrupts
> quote interrupts
- list interrupts
\`\`\`
fence interrupts
\`\`\`
***
`;

export const DOCUMENTS: Readonly<Record<string, string>> = {
  plain: PLAIN,
  math: MATH,
  html: HTML,
  lists: LISTS,
  'without a line end': 'Only one line, *not* finished',
  'that begins with blank lines': '\n\n  \nText\n\n\n\nMore\n',
  'with an open fence': 'Text\n\n```js\nlet a;\n\nlet b;\n',
  'with carriage returns': PLAIN.replaceAll('\n', '\r\n'),
};

export const WITH_REFERENCES = `See [the docs][d] and [other] and [D].

More text, [not a link], and [late].

[d]: https://example.org/docs
[other]: https://example.org/other "A title"

Text between, again [the docs][d].

- item [late]

[late]: <https://example.org/late>

End [other].
`;
