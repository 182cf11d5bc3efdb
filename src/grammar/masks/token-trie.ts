// A tree of tokens in flat arrays, in depth-first order: a walk skips a whole subtree with one addition.
export interface TokenTrie {
  /** The symbol that leads to node i (symbols.ts). A node follows its parent; node 0 is the root. */
  readonly symbol: Uint16Array;
  /** The first node after the subtree of i. */
  readonly end: Int32Array;
  /** Tokens that end at node i: `tokens[firstToken[i] … firstToken[i + 1])`. */
  readonly firstToken: Int32Array;
  readonly tokens: Int32Array;
  /** Depth below the root, in symbols. */
  readonly level: Uint16Array;
  /** Whether all tokens are short and consist of characters that JSON strings contain unescaped. */
  readonly isSafe: boolean;
}

/** Token ids by their sequence of symbols, one code unit per symbol: strings are the fastest to sort and compare. */
export type Sequences = Map<string, number[]>;

export function addSequence(sequences: Sequences, sequence: string, id: number): void {
  const ids = sequences.get(sequence);
  if (ids) ids.push(id);
  else sequences.set(sequence, [id]);
}

export function createTokenTrie(sequences: Sequences, isSafe: boolean): TokenTrie {
  const symbol: number[] = [0];
  const end: number[] = [0];
  const firstToken: number[] = [0];
  const level: number[] = [0];
  const tokens: number[] = [];
  const path: number[] = [0]; // the nodes from the root to the last token
  let previous = '';
  for (const sequence of [...sequences.keys()].sort()) {
    let shared = 0;
    while (shared < previous.length && previous.charCodeAt(shared) === sequence.charCodeAt(shared)) shared++;
    while (path.length > shared + 1) end[path.pop()!] = symbol.length;
    for (let i = shared; i < sequence.length; i++) {
      path.push(symbol.length);
      symbol.push(sequence.charCodeAt(i));
      end.push(0);
      firstToken.push(tokens.length);
      level.push(i + 1);
    }
    for (const id of sequences.get(sequence)!) tokens.push(id);
    previous = sequence;
  }
  for (const node of path) end[node] = symbol.length;
  firstToken.push(tokens.length);
  return {
    symbol: Uint16Array.from(symbol),
    end: Int32Array.from(end),
    firstToken: Int32Array.from(firstToken),
    tokens: Int32Array.from(tokens),
    level: Uint16Array.from(level),
    isSafe,
  };
}
