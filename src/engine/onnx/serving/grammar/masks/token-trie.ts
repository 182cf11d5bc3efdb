// Tokens as a tree, in depth-first order in flat arrays: a walk skips whole subtrees with one addition.
export interface TokenTrie {
  /** Node i follows its parent; node 0 is the root. What leads to it (symbols.ts). */
  readonly symbol: Uint16Array;
  /** The node behind the subtree of i. */
  readonly end: Int32Array;
  /** Tokens that end at node i: `tokens[firstToken[i] … firstToken[i + 1])`. */
  readonly firstToken: Int32Array;
  readonly tokens: Int32Array;
  /** Symbols from the root. */
  readonly level: Uint16Array;
  /** Of characters only that stand in JSON strings as themselves, and not many of them. */
  readonly isSafe: boolean;
}

/** Token ids by what leads to them, a symbol as a code unit: strings are sorted and told apart fastest. */
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
  const path: number[] = [0]; // nodes from the root to the last token
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
