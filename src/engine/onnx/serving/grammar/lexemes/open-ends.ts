// A pattern that any text may stand before or behind needs no more of what it repeats there than the least: `[a-z]{1,255}` without anchors
// is in a text where `[a-z]` is. Counters that tell nothing would be told apart in every state (pattern.ts).
import type { Node } from './pattern-reader.ts';

const NOTHING: Node = { kind: 'sequence', parts: [] };

/** The same texts, followed by any text. */
export const openBehind = (node: Node): Node => open(node, -1);

/** The same texts with any text before them. */
export const openBefore = (node: Node): Node => open(node, 0);

/** `end`: the index of the part that is open, as `at` takes it. */
function open(node: Node, end: 0 | -1): Node {
  switch (node.kind) {
    case 'repeat': {
      if (node.min === 0) return NOTHING;
      return node.min === 1 ? open(node.of, end) : { ...node, max: node.min };
    }
    case 'sequence': {
      const outer = node.parts.at(end);
      if (outer === undefined) return node;
      const opened = open(outer, end);
      const others = end === 0 ? node.parts.slice(1) : node.parts.slice(0, -1);
      if (isNothing(opened)) return open({ kind: 'sequence', parts: others }, end);
      return { kind: 'sequence', parts: end === 0 ? [opened, ...others] : [...others, opened] };
    }
    case 'choice': {
      const parts = node.parts.map((part) => open(part, end));
      return parts.some(isNothing) ? NOTHING : { kind: 'choice', parts };
    }
    case 'class':
    case 'start':
    case 'end':
    case 'ahead':
      return node; // an anchor closes its side
  }
}

const isNothing = (node: Node): boolean => node.kind === 'sequence' && node.parts.length === 0;
