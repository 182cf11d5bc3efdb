// Stores token lists so that common prefixes are kept once: the prompts of a conversation repeat each other from turn to turn, and those
// of a group are equal. Lists are cut into blocks; a block is identified by all tokens up to its end.
import { createHash } from 'node:crypto';

export interface SharedLists {
  /** Call `release` once for each `keep`. */
  keep(tokens: readonly number[]): SharedList;
  release(list: SharedList): void;
  /** Approximate heap size. */
  readonly sizeBytes: number;
}

/** Equal lists that are kept are one object. */
export interface SharedList {
  read(): number[];
}

interface Block extends SharedList {
  readonly key: string;
  readonly parent: Block | null;
  readonly tokens: Int32Array;
  /** Number of lists that end with this block and of blocks that follow it. */
  users: number;
}

const BLOCK = 64;
const BYTES_PER_TOKEN = 4;
/** Measured with Node 20: key, map entry and header of the tokens. */
const BYTES_PER_BLOCK = 750;

export function createSharedLists(): SharedLists {
  const blocks = new Map<string, Block>();
  let tokenCount = 0;

  function blockOf(parent: Block | null, tokens: Int32Array): Block {
    const key = createHash('sha256')
      .update(parent?.key ?? '')
      .update(tokens)
      .digest('base64');
    const known = blocks.get(key);
    if (known) return known;
    const block = { key, parent, tokens, users: 0, read: () => tokensUpTo(block) };
    blocks.set(key, block);
    tokenCount += tokens.length;
    if (parent) parent.users++;
    return block;
  }

  function release(list: Block): void {
    for (let block: Block | null = list; block && --block.users === 0; block = block.parent) {
      blocks.delete(block.key);
      tokenCount -= block.tokens.length;
    }
  }

  return {
    get sizeBytes() {
      return blocks.size * BYTES_PER_BLOCK + tokenCount * BYTES_PER_TOKEN;
    },
    keep(tokens) {
      let last = blockOf(null, Int32Array.from(tokens.slice(0, BLOCK)));
      for (let at = BLOCK; at < tokens.length; at += BLOCK) {
        last = blockOf(last, Int32Array.from(tokens.slice(at, at + BLOCK)));
      }
      last.users++;
      return last;
    },
    release: (list) => release(list as Block),
  };
}

function tokensUpTo(block: Block): number[] {
  const parts: Int32Array[] = [];
  for (let at: Block | null = block; at; at = at.parent) parts.unshift(at.tokens);
  return parts.flatMap((part) => [...part]);
}
