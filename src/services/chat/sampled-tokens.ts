// A bounded memory of the tokens that trainable models sampled, and of the prompts before them, so that rollouts that did not ask for
// logprobs, or lost them, are still trained on exactly the sampled tokens after exactly their prompt. In memory only; forgotten
// tokens are reported as skipped, and a forgotten prompt is rendered again.
//
// A choice is found by the conversation that it answered and by its tokens or text. The prompt is not rendered to find it, because the
// request may have had other tools or template variables than the trajectory shows. Requests that differ in nothing else may get the
// same answer: then log-probabilities decide, or else the model; if neither does, the choice is not found.
import { createHash } from 'node:crypto';
import { createSharedLists, type SharedList } from './shared-lists.ts';

/** Which entity asked which model what. */
export interface ConversationKey {
  readonly entity: string;
  readonly baseModel: string;
  /** The trainable model. Answers of other models over the same base are searched if this one has none. */
  readonly modelId: string;
  /** Digest of all messages before the answer (conversation-digest.ts). */
  readonly conversation: string;
}

/** One choice of an answer, by the id that the client got with it. */
export interface AnswerId {
  readonly id: string;
  readonly index: number;
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
  /** Some tokens were sampled under a constraint: their log-probabilities are those of the masked distribution. */
  readonly isConstrained: boolean;
  /** Request fields that made the sampling distribution differ from the model's own. */
  readonly reshapedBy: readonly string[];
  /** The step of the asking model that sampled it; null: another model did. */
  readonly policyStep: number | null;
}

/** Of each token, nats; null where it is not known. */
type Logprobs = readonly (number | null)[] | null;

export interface SampledTokens {
  remember(asked: ConversationKey, words: Words, sampling: Sampling, answer?: AnswerId | null): void;
  /** Null also if several answers had this id. */
  findAnswer(who: Omit<ConversationKey, 'conversation'>, answer: AnswerId): Sampling | null;
  /** The latest possible prompt; null also if the candidates had different prompts. */
  findWords(asked: ConversationKey, words: Words, logprobs: Logprobs): Sampling | null;
  findTokens(asked: ConversationKey, tokenIds: readonly number[], logprobs: Logprobs): Sampling | null;
  /** Approximate heap size. */
  readonly sizeBytes: number;
}

/** 64 MB: the rollouts of several RL steps. */
const BYTES_MAX = 64e6;
/** Measured with Node 20: keys, map entries and list headers. */
const BYTES_PER_ENTRY = 1_200;
/** An id under which an entry is found too: a hash, a map entry and a list. */
const BYTES_PER_ID = 400;
const BYTES_PER_TOKEN = 8;
/** Maximum number of answers under one key, from different models or after different prompts: keeps a search short. */
const SAME_MAX = 16;
/** Tolerance in nats, because clients round. */
const LOGPROB_TOLERANCE = 1e-4;

interface Kept {
  /** Of the words, of the tokens, then of ids. */
  readonly keys: readonly string[];
  readonly modelId: string;
  /** Equal prompts are one shared object. */
  readonly prompt: SharedList;
  readonly tokenIds: Int32Array;
  readonly logprobs: Float32Array;
  readonly isConstrained: boolean;
  readonly reshapedBy: readonly string[];
  readonly policyStep: number | null;
}

export function createSampledTokens(bytesMax = BYTES_MAX): SampledTokens {
  /** Oldest first. Not lru-cache: the cost of an entry depends on the prompts that it shares with others. */
  const all = new Set<Kept>();
  const byKey = new Map<string, readonly Kept[]>();
  const prompts = createSharedLists();
  let [answerTokens, ids] = [0, 0];
  const sizeBytes = () =>
    prompts.sizeBytes + all.size * BYTES_PER_ENTRY + ids * BYTES_PER_ID + answerTokens * BYTES_PER_TOKEN;
  const keptAs = (key: string) => byKey.get(key) ?? [];

  function add(kept: Kept): void {
    all.add(kept);
    for (const key of kept.keys) byKey.set(key, [...keptAs(key), kept]);
    answerTokens += kept.tokenIds.length;
    ids += kept.keys.length - 2;
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
    ids -= kept.keys.length - 2;
  }

  function find(key: string, modelId: string, given: Logprobs): Sampling | null {
    const same = preferring(keptAs(key), ({ logprobs }) => given !== null && agree(logprobs, given));
    const own = preferring(same, (kept) => kept.modelId === modelId);
    const last = own.at(-1);
    if (!last || own.some(({ prompt }) => prompt !== last.prompt)) return null;
    const latest = preferring(own, isOfPolicy).at(-1)!;
    const { prompt, tokenIds, logprobs, isConstrained, reshapedBy } = latest;
    const policyStep = latest.modelId === modelId ? latest.policyStep : null;
    const tokens = { promptTokens: prompt.read(), tokenIds: [...tokenIds], logprobs: [...logprobs] };
    return { ...tokens, isConstrained, reshapedBy, policyStep };
  }

  return {
    get sizeBytes() {
      return sizeBytes();
    },
    remember(asked, words, { promptTokens, tokenIds, logprobs, isConstrained, reshapedBy, policyStep }, answer = null) {
      const said = [keyOfWords(asked, words), keyOfTokens(asked, tokenIds)];
      const kept: Kept = {
        keys: answer ? [...said, keyOfAnswer(asked, answer)] : said,
        modelId: asked.modelId,
        prompt: prompts.keep(promptTokens),
        tokenIds: Int32Array.from(tokenIds),
        logprobs: Float32Array.from(logprobs),
        isConstrained,
        reshapedBy,
        policyStep,
      };
      const again = (old: Kept) =>
        old.prompt === kept.prompt &&
        old.modelId === kept.modelId &&
        old.isConstrained === isConstrained &&
        old.policyStep === policyStep && // the same words of another step have other log-probabilities
        old.reshapedBy.join() === reshapedBy.join() &&
        said.every((key) => old.keys.includes(key));
      const olds = keptAs(said[0]!).filter(again);
      olds.forEach(forget);
      const ids = [...olds.flatMap(({ keys }) => keys.slice(2)), ...kept.keys.slice(2)].slice(-SAME_MAX);
      add({ ...kept, keys: [...said, ...new Set(ids)] });
      for (const key of [...said, ...ids]) keptAs(key).slice(0, -SAME_MAX).forEach(forget);
      for (const oldest of all) {
        if (sizeBytes() <= bytesMax) break;
        forget(oldest);
      }
    },
    findAnswer: (who, answer) => {
      const key = keyOfAnswer(who, answer);
      return keptAs(key).length === 1 ? find(key, who.modelId, null) : null;
    },
    findWords: (asked, words, logprobs) => find(keyOfWords(asked, words), asked.modelId, logprobs),
    findTokens: (asked, tokenIds, logprobs) => find(keyOfTokens(asked, tokenIds), asked.modelId, logprobs),
  };
}

/**
 * Whether they were sampled from the model's own distribution. If the same text was also sampled in another way, for example by an
 * evaluation at temperature 0, it is unclear which of them came back: only certain cases count as off-policy.
 */
const isOfPolicy = ({ isConstrained, reshapedBy }: Kept): boolean => !isConstrained && reshapedBy.length === 0;

/** Returns the matching ones if there are any, otherwise all. */
function preferring<T>(list: readonly T[], holds: (item: T) => boolean): readonly T[] {
  const some = list.filter(holds);
  return some.length > 0 ? some : list;
}

/** Whether both are the same sample. A null log-probability matches anything. */
export const agree = (sampled: ArrayLike<number>, given: NonNullable<Logprobs>): boolean =>
  sampled.length === given.length &&
  given.every((logprob, i) => logprob === null || Math.abs(logprob - sampled[i]!) <= LOGPROB_TOLERANCE);

function keyOfWords(asked: ConversationKey, { content, calls }: Words): string {
  return keyOf(asked, JSON.stringify([content, calls.map(({ name, arguments: text }) => [name, text])]));
}

const keyOfTokens = (asked: ConversationKey, tokenIds: readonly number[]): string =>
  keyOf(asked, Int32Array.from(tokenIds));

const keyOfAnswer = (who: Omit<ConversationKey, 'conversation'>, { id, index }: AnswerId): string =>
  keyOf({ ...who, conversation: '' }, JSON.stringify([id, index]));

const keyOf = ({ entity, baseModel, conversation }: ConversationKey, answer: string | Int32Array): string =>
  createHash('sha256')
    .update(JSON.stringify([entity, baseModel, conversation, typeof answer]))
    .update(answer)
    .digest('base64');
