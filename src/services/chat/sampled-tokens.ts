// A bounded memory of what trainable models said, token by token, and behind which prompt: rollouts that did not ask for
// logprobs, or lost them on the way, are still trained on exactly the tokens that were sampled, behind exactly those they were
// sampled behind. In memory only; what was forgotten is reported as skipped, a forgotten prompt is rendered again.
//
// A choice is found by the conversation that it answered and by its tokens or words. Prompts are not rendered to find it: the
// request may have had other tools or variables of the template than the trajectory tells. Requests that differ in nothing
// else may get the same answer: its log-probabilities tell them apart, else the model; where neither does, it is not found.
import { createHash } from 'node:crypto';
import { createSharedLists, type SharedList } from './shared-lists.ts';

/** Who asked which model what. */
export interface Asked {
  readonly entity: string;
  readonly baseModel: string;
  /** The trainable one. What another model over the same base said is found where this one did not say it. */
  readonly modelId: string;
  /** conversation-digest.ts, of all messages before the answer. */
  readonly conversation: string;
}

/** An answer as the client saw it. */
export interface Words {
  readonly content: string;
  readonly calls: readonly { readonly name: string; readonly arguments: string }[];
}

export interface Sampling {
  readonly promptTokens: readonly number[];
  readonly tokenIds: readonly number[];
  /** Nats. */
  readonly logprobs: readonly number[];
  /** A constraint held for some of its tokens: their log-probabilities are those of the masked distribution. */
  readonly isConstrained: boolean;
  /** Fields of the request by which its tokens came from another distribution than the model's own. */
  readonly reshapedBy: readonly string[];
}

/** Of each token, nats; null where it is not known. */
type Logprobs = readonly (number | null)[] | null;

export interface SampledTokens {
  remember(asked: Asked, words: Words, sampling: Sampling): void;
  /** The latest of those that it can be; null also where they had different prompts. */
  findWords(asked: Asked, words: Words, logprobs: Logprobs): Sampling | null;
  findTokens(asked: Asked, tokenIds: readonly number[], logprobs: Logprobs): Sampling | null;
  /** About what it takes of the heap. */
  readonly sizeBytes: number;
}

/** 64 MB: the rollouts of several RL steps. */
const BYTES_MAX = 64e6;
/** Measured (Node 20): keys, map entries and headers of the lists. */
const BYTES_PER_ENTRY = 1_200;
const BYTES_PER_TOKEN = 8;
/** Answers with the same key, each by another model or behind another prompt: what keeps a search short. */
const SAME_MAX = 16;
/** Nats: clients round. */
const LOGPROB_TOLERANCE = 1e-4;

interface Kept {
  readonly keys: readonly string[];
  readonly modelId: string;
  /** Equal prompts are the same object. */
  readonly prompt: SharedList;
  readonly tokenIds: Int32Array;
  readonly logprobs: Float32Array;
  readonly isConstrained: boolean;
  readonly reshapedBy: readonly string[];
}

export function createSampledTokens(bytesMax = BYTES_MAX): SampledTokens {
  /** Oldest first. No lru-cache: what an entry costs depends on the prompts that it shares with others. */
  const all = new Set<Kept>();
  const byKey = new Map<string, readonly Kept[]>();
  const prompts = createSharedLists();
  let answerTokens = 0;
  const sizeBytes = () => prompts.sizeBytes + all.size * BYTES_PER_ENTRY + answerTokens * BYTES_PER_TOKEN;
  const keptAs = (key: string) => byKey.get(key) ?? [];

  function add(kept: Kept): void {
    all.add(kept);
    for (const key of kept.keys) byKey.set(key, [...keptAs(key), kept]);
    answerTokens += kept.tokenIds.length;
  }

  function forget(kept: Kept): void {
    all.delete(kept);
    for (const key of kept.keys) {
      const others = keptAs(key).filter((other) => other !== kept);
      if (others.length > 0) byKey.set(key, others);
      else byKey.delete(key);
    }
    prompts.release(kept.prompt);
    answerTokens -= kept.tokenIds.length;
  }

  function find(key: string, modelId: string, given: Logprobs): Sampling | null {
    const same = preferring(keptAs(key), ({ logprobs }) => given !== null && agree(logprobs, given));
    const own = preferring(same, (kept) => kept.modelId === modelId);
    const last = own.at(-1);
    if (!last || own.some(({ prompt }) => prompt !== last.prompt)) return null;
    const latest = preferring(own, isOfPolicy).at(-1)!;
    const { prompt, tokenIds, logprobs, isConstrained, reshapedBy } = latest;
    return { promptTokens: prompt.read(), tokenIds: [...tokenIds], logprobs: [...logprobs], isConstrained, reshapedBy };
  }

  return {
    get sizeBytes() {
      return sizeBytes();
    },
    remember(asked, words, { promptTokens, tokenIds, logprobs, isConstrained, reshapedBy }) {
      const kept: Kept = {
        keys: [keyOfWords(asked, words), keyOfTokens(asked, tokenIds)],
        modelId: asked.modelId,
        prompt: prompts.keep(promptTokens),
        tokenIds: Int32Array.from(tokenIds),
        logprobs: Float32Array.from(logprobs),
        isConstrained,
        reshapedBy,
      };
      const again = (old: Kept) =>
        old.prompt === kept.prompt &&
        old.modelId === kept.modelId &&
        old.isConstrained === isConstrained &&
        old.reshapedBy.join() === reshapedBy.join() &&
        kept.keys.every((key) => old.keys.includes(key));
      keptAs(kept.keys[0]!).filter(again).forEach(forget);
      add(kept);
      for (const key of kept.keys) keptAs(key).slice(0, -SAME_MAX).forEach(forget);
      for (const oldest of all) {
        if (sizeBytes() <= bytesMax) break;
        forget(oldest);
      }
    },
    findWords: (asked, words, logprobs) => find(keyOfWords(asked, words), asked.modelId, logprobs),
    findTokens: (asked, tokenIds, logprobs) => find(keyOfTokens(asked, tokenIds), asked.modelId, logprobs),
  };
}

/**
 * Sampled from the model's own distribution. Where the same words were also sampled otherwise, such as by an evaluation at temperature 0,
 * nobody can tell which ones came back: only what is certain counts as off-policy.
 */
const isOfPolicy = ({ isConstrained, reshapedBy }: Kept): boolean => !isConstrained && reshapedBy.length === 0;

/** Those that hold, if any do. */
function preferring<T>(list: readonly T[], holds: (item: T) => boolean): readonly T[] {
  const some = list.filter(holds);
  return some.length > 0 ? some : list;
}

/** Whether they are of one sampling. Where a log-probability is null, nothing is known. */
export const agree = (sampled: ArrayLike<number>, given: NonNullable<Logprobs>): boolean =>
  sampled.length === given.length &&
  given.every((logprob, i) => logprob === null || Math.abs(logprob - sampled[i]!) <= LOGPROB_TOLERANCE);

function keyOfWords(asked: Asked, { content, calls }: Words): string {
  return keyOf(asked, JSON.stringify([content, calls.map(({ name, arguments: text }) => [name, text])]));
}

const keyOfTokens = (asked: Asked, tokenIds: readonly number[]): string => keyOf(asked, Int32Array.from(tokenIds));

const keyOf = ({ entity, baseModel, conversation }: Asked, answer: string | Int32Array): string =>
  createHash('sha256')
    .update(JSON.stringify([entity, baseModel, conversation, typeof answer]))
    .update(answer)
    .digest('base64');
