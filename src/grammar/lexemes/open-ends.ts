// Simplifies a pattern that any text may precede or follow: at such an end, repetitions are reduced to their minimum. A text that
// contains `[a-z]{1,255}` is one that contains `[a-z]`. Otherwise useless counters would multiply the states (pattern.ts).
import type { Node } from './pattern-reader.ts';

const NOTHING: Node = { kind: 'sequence', parts: [] };

/** The pattern, followed by any text. */
export const openBehind = (node: Node): Node => open(node, -1);

/** The pattern, preceded by any text. */
export const openBefore = (node: Node): Node => open(node, 0);

/** `end`: the index of the part at the open end, for `at`. */
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
      return node; // an anchor fixes its end
  }
}

const isNothing = (node: Node): boolean => node.kind === 'sequence' && node.parts.length === 0;
