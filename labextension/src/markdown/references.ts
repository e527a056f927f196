/** Reference links: which labels a block may use, and which definitions it must be rendered with. */
import type { Token } from 'marked';

/** As CommonMark compares labels. */
function normalised(label: string): string {
  return label.trim().replace(/\s+/g, ' ').toLowerCase();
}

const LABEL = /\[((?:[^[\]\\]|\\.){1,999})\]/g;

/** Everything in brackets: each may be a link by reference, now or when its definition comes. */
export function labelsIn(source: string): Set<string> {
  return new Set(Array.from(source.matchAll(LABEL), match => normalised(match[1] ?? '')));
}

/** Definitions by label; the first one of a label counts. */
export type Definitions = Map<string, string>;

/** Adds the definitions among `tokens`, nested ones too. Answers the labels that are new or read differently now. */
export function collectDefinitions(tokens: readonly Token[], into: Definitions): Set<string> {
  const changed = new Set<string>();
  const visit = (list: readonly Token[]): void => {
    for (const token of list) {
      if (token.type === 'def' && typeof token.tag === 'string') {
        const label = normalised(token.tag);
        const source = token.raw.trim();
        const known = into.get(label);
        // the same definition, read when its title had not come yet
        const longer = known !== undefined && source !== known && source.startsWith(known);
        if (known === undefined || longer) {
          into.set(label, source);
          changed.add(label);
        }
      }
      const { tokens: inner, items } = token as { tokens?: Token[]; items?: Token[] };
      visit([...(inner ?? []), ...(items ?? [])]);
    }
  };
  visit(tokens.filter(token => token.raw.includes(']:')));
  return changed;
}

/** `source` with the definitions from elsewhere that it uses. */
export function withDefinitions(
  source: string,
  labels: ReadonlySet<string>,
  definitions: Definitions,
): string {
  const used = [...labels].flatMap(label => {
    const definition = definitions.get(label);
    return definition === undefined || source.includes(definition) ? [] : [definition];
  });
  return used.length === 0 ? source : `${source.trimEnd()}\n\n${used.join('\n')}\n`;
}
