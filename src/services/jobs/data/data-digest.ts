// The seed for the order of a job's rows: a digest of the client's settings and of the turns to train, so that the same data trains the
// same adapter. Warnings, prompt ids and sampling records are left out, because they depend on what this server remembers; so are
// ids of tool calls, which are random, and notes, which training does not use.
import { createHash } from 'node:crypto';
import type { ChatMessage } from '#domain/chat';
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

const LEFT_OUT = ['promptTokenIds', 'notes', 'tool_calls', 'tool_call_id'];

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

function asSent(stored: Partial<Turn>): Partial<Turn> {
  const turn = stored.message ? { ...stored, message: withoutCallIds(stored.message) } : stored;
  if (!('promptTokenIds' in turn)) return turn;
  const { promptTokenIds: _, isConstrained: __, reshapedBy: ___, policyStep: ____, ...rest } = turn;
  return rest;
}

function withoutCallIds({ tool_call_id: _, tool_calls: calls, ...rest }: ChatMessage): ChatMessage {
  return calls ? { ...rest, tool_calls: calls.map((call) => ({ ...call, id: '' })) } : rest;
}
