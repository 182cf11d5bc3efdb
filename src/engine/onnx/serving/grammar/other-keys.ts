// The keys that an object may have beside the described ones: every string but those, or a document could say the same key
// twice and the last one, of another schema, would count. Written as the tree of the known keys turned inside out.
import { complement, literal, NOT_IN_JSON, oneOf, type Range } from './gbnf.ts';

interface Node {
  readonly children: Map<string, Node>;
  isKey: boolean;
}

/**
 * Expression for the rest of such a key behind its opening quote, closing quote included. Helper rules, named after `name`, go
 * into `rules`. Escapes are left out: they could spell a known key.
 */
export function otherKeys(known: readonly string[], name: string, rules: Map<string, string>): string {
  const free = `${classWithout([])}* "\\""`;
  const root = node();
  for (const key of known) {
    let at = root;
    for (const character of key) {
      const child = at.children.get(character) ?? node();
      at.children.set(character, child);
      at = child;
    }
    at.isKey = true;
  }
  let count = 0;
  function rule(at: Node): string {
    if (at.children.size === 0 && !at.isKey) return free;
    const own = `${name}_key_${count++}`;
    const codes = [...at.children.keys()].map((character) => character.codePointAt(0)!);
    const others = `${classWithout(codes)} ${free}`;
    const deeper = [...at.children].map(([character, child]) => `${literal(character)} ${rule(child)}`);
    rules.set(own, [...(at.isKey ? [] : ['"\\""']), others, ...deeper].join(' | '));
    return own;
  }
  return rule(root);
}

const classWithout = (codes: readonly number[]): string =>
  oneOf(complement([...NOT_IN_JSON, ...codes.map((code): Range => [code, code])])) ?? '""';

const node = (): Node => ({ children: new Map(), isKey: false });
