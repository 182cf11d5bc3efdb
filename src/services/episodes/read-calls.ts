// Reads the calls of an episode back: the exact tokens of each prompt and answer, and on request what was said. One at a time, in the
// order in which they were stored, so that a long episode is never in memory as text.
import { invariant } from '#base/invariant';
import type { EpisodeCall, EpisodeChoice, StoredEpisodeCall } from '#domain/episode';
import type { EpisodeStore } from '#storage/episode-store';
import { digestOf, unpackContent, type PackedContent } from './call-content.ts';
import { promptOf, type TreeCall } from './call-tree.ts';
import { unpackTokens, type SampledTokens } from './call-tokens.ts';

export interface ReadChoice extends EpisodeChoice, SampledTokens {}

export interface ReadCall extends Omit<EpisodeCall, 'choices'> {
  readonly promptTokens: Int32Array;
  readonly choices: readonly ReadChoice[];
}

/** Rows per query: long calls have megabytes. */
const PAGE = 50;

/** For training and reading: every call of the episode with its tokens. */
export async function* readCalls(store: Pick<EpisodeStore, 'calls'>, episodeId: string): AsyncGenerator<ReadCall> {
  const seen = new Map<string, TreeCall>();
  for await (const row of rowsOf(store, episodeId, ['tokens'])) {
    const { tokens, content: _, choices, ...call } = row;
    const unpacked = unpackTokens(tokens, row);
    const node = treeCall(
      row,
      seen,
      unpacked.promptTail,
      unpacked.choices.map(({ tokenIds }) => tokenIds),
    );
    seen.set(row.id, node);
    yield {
      ...call,
      promptTokens: promptOf(node),
      choices: choices.map((choice, at) => ({ ...choice, ...unpacked.choices[at]! })),
    };
  }
}

/** The calls as nodes of their trees, for placing the next one. */
export async function readTree(store: Pick<EpisodeStore, 'calls'>, episodeId: string): Promise<TreeCall[]> {
  const seen = new Map<string, TreeCall>();
  for await (const row of rowsOf(store, episodeId, ['tokens', 'content'])) {
    const unpacked = unpackTokens(row.tokens, row);
    const packed = await unpackContent(row.content);
    const node = treeCall(
      row,
      seen,
      unpacked.promptTail,
      unpacked.choices.map(({ tokenIds }) => tokenIds),
      packed,
    );
    seen.set(row.id, node);
  }
  return [...seen.values()];
}

export interface SaidCall extends EpisodeCall {
  readonly content: PackedContent;
}

/** Calls from this ordinal on, with only those messages that their parent does not have. */
export async function readSaid(
  store: Pick<EpisodeStore, 'calls'>,
  episodeId: string,
  from: number,
  limit: number,
): Promise<readonly SaidCall[]> {
  const rows = await store.calls(episodeId, from, limit, ['content']);
  return Promise.all(
    rows.map(async ({ tokens: _, content, ...call }) => {
      return { ...call, content: await unpackContent(content) };
    }),
  );
}

async function* rowsOf(
  store: Pick<EpisodeStore, 'calls'>,
  episodeId: string,
  parts: readonly ('tokens' | 'content')[],
): AsyncGenerator<StoredEpisodeCall> {
  for (let from = 0; ; from += PAGE) {
    const rows = await store.calls(episodeId, from, PAGE, parts);
    yield* rows;
    if (rows.length < PAGE) return;
  }
}

function treeCall(
  { id, parentId, parentChoice, sharedTokenCount }: EpisodeCall,
  seen: ReadonlyMap<string, TreeCall>,
  promptTail: Int32Array,
  choices: readonly Int32Array[],
  packed: Partial<PackedContent> = {},
): TreeCall {
  const parent = parentId === null ? null : seen.get(parentId);
  invariant(parent !== undefined, `call ${id} comes before its parent ${parentId}`);
  return {
    ...{ id, parent, parentChoice, sharedTokenCount, promptTail, choices },
    sharedMessages: packed.sharedMessages ?? 0,
    messageDigests: (packed.messages ?? []).map(digestOf),
    toolsDigest: packed.sharesTools && parent ? parent.toolsDigest : digestOf(packed.tools ?? null),
  };
}
