// The seed for the order of a job's rows: a digest of the client's settings and of the turns to train, so that the same data trains the
// same adapter. Warnings, prompt ids and sampling records are left out, because they depend on what this server remembers; so are
// notes, which training does not use.
import { createHash } from 'node:crypto';
import type { Turn } from '#domain/trajectory';

interface StoredGroup {
  readonly notes?: unknown;
  readonly trajectories: readonly {
    readonly notes?: unknown;
    readonly histories: readonly { readonly turns: readonly Partial<Turn>[] }[];
  }[];
}

export interface DataDigest {
  /** Stored lines and their parsed values; the head comes first. */
  addHead(line: Uint8Array, head: object): void;
  addGroup(line: Uint8Array, group: unknown): void;
  /** The digest of everything added. */
  read(): string;
}

export function createDataDigest(): DataDigest {
  const hash = createHash('sha256');
  return {
    addHead(line, head) {
      if (!('warnings' in head)) return void hash.update(line);
      const { warnings: _, ...settings } = head;
      hash.update(JSON.stringify(settings));
    },
    addGroup(line, group) {
      const text = Buffer.from(line.buffer, line.byteOffset, line.byteLength);
      const saysMore = LEFT_OUT.some((field) => text.includes(`"${field}"`));
      hash.update(saysMore ? JSON.stringify(bareGroup(group)) : line);
    },
    read: () => hash.copy().digest('hex'),
  };
}

const LEFT_OUT = ['promptTokenIds', 'notes'];

function bareGroup(stored: unknown): StoredGroup {
  const { notes: _, ...group } = stored as StoredGroup;
  return {
    ...group,
    trajectories: group.trajectories.map(({ notes: _, ...trajectory }) => ({
      ...trajectory,
      histories: trajectory.histories.map((history) => ({ ...history, turns: history.turns.map(asSent) })),
    })),
  };
}

function asSent(turn: Partial<Turn>): Partial<Turn> {
  if (!('promptTokenIds' in turn)) return turn;
  const { promptTokenIds: _, isConstrained: __, reshapedBy: ___, ...rest } = turn;
  return rest;
}
