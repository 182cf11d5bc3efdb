// The sequences of a row as a tree of their common prefixes, so that a shared prefix is computed once. Nodes become the segments of a
// TrainingRow, parents before children, so that a token sees exactly the tokens of its own sequence. Exact for any sequences, trained
// or not: log-probabilities equal those of each sequence alone.
import type { LaidRow, RowLayout } from './row-layout.ts';

interface Node {
  tokens: Int32Array;
  /** By first token. */
  children: Map<number, Node>;
}

export function createPrefixTree(): RowLayout {
  const root: Node = { tokens: new Int32Array(0), children: new Map() };
  const sequences: Int32Array[] = [];
  let size = 0;

  /** The deepest node that shares a prefix with the sequence, and how much of the node and of the sequence the prefix covers. */
  function descend(tokens: Int32Array): { node: Node; shared: number; depth: number } {
    let node = root;
    let depth = 0;
    for (;;) {
      const child = depth < tokens.length ? node.children.get(tokens[depth]!) : undefined;
      if (!child) return { node, shared: node.tokens.length, depth };
      let shared = 1;
      while (shared < child.tokens.length && child.tokens[shared] === tokens[depth + shared]) shared++;
      depth += shared;
      node = child;
      if (shared < child.tokens.length) return { node, shared, depth };
    }
  }

  return {
    get size() {
      return size;
    },
    cost: (tokens) => tokens.length - descend(tokens).depth,
    add(tokens) {
      const { node, shared, depth } = descend(tokens);
      if (depth < tokens.length) {
        if (shared < node.tokens.length) splitNode(node, shared);
        node.children.set(tokens[depth]!, { tokens: tokens.subarray(depth), children: new Map() });
        size += tokens.length - depth;
      }
      return sequences.push(tokens) - 1;
    },
    lay: () => layTree(root, sequences, size),
  };
}

/** Its first `length` tokens stay, the rest becomes a child. */
function splitNode(node: Node, length: number): void {
  const rest: Node = { tokens: node.tokens.subarray(length), children: node.children };
  node.tokens = node.tokens.subarray(0, length);
  node.children = new Map([[rest.tokens[0]!, rest]]);
}

function layTree(root: Node, sequences: readonly Int32Array[], size: number): LaidRow {
  const tokens = new Int32Array(size);
  const positions = new Int32Array(size);
  const segments = new Int32Array(size);
  const parents: number[] = [];
  const starts = new Map<Node, number>();
  let next = 0;

  function place(node: Node, parent: number, position: number): void {
    const segment = parents.push(parent) - 1;
    starts.set(node, next);
    const end = next + node.tokens.length;
    tokens.set(node.tokens, next);
    segments.fill(segment, next, end);
    for (let i = 0; next < end; i++, next++) positions[next] = position + i;
    for (const child of node.children.values()) place(child, segment, position + node.tokens.length);
  }
  for (const child of root.children.values()) place(child, -1, 0);

  function placesOf(sequence: Int32Array): Int32Array {
    const places = new Int32Array(sequence.length);
    let node = root;
    for (let i = 0; i < sequence.length;) {
      node = node.children.get(sequence[i]!)!;
      const start = starts.get(node)!;
      for (let k = 0; k < node.tokens.length && i < sequence.length; k++, i++) places[i] = start + k;
    }
    return places;
  }

  return { tokens, positions, segments, parents: Int32Array.from(parents), places: sequences.map(placesOf) };
}
