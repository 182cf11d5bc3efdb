// fixtures/tokenizers/corpus.json (python/golden/make_tokenizer_corpus.py): a hundred tokenizer.json files, two hundred texts, and digests
// of what the package `tokenizers` makes of them.
import { createHash } from 'node:crypto';
import { createTokenizer, type PlacedTokens, type Tokenizer } from '#text/tokenizer';
import type { AddedToken, Json } from '#text/tokenizer-files';
import { readFixture } from './fixture.ts';

type Added = Omit<AddedToken, 'id'>;

interface Configuration {
  /** Name of a model, and what is changed in it. */
  readonly model: string;
  readonly changes?: Json;
  readonly added_tokens?: readonly Added[];
  readonly normalizer?: Json;
  readonly pre_tokenizer?: Json;
  readonly post_processor?: Json;
  readonly decoder?: Json;
  /** For each text: "none", or digests of ids, places and decoded text. */
  readonly digests: string;
  readonly sequences: readonly (readonly [ids: readonly number[], digest: string])[];
}

export const corpus = readFixture<{
  readonly models: Readonly<Record<string, Json>>;
  readonly texts: Readonly<Record<string, string>>;
  readonly configurations: Readonly<Record<string, Configuration>>;
}>('tokenizers/corpus.json');

export function tokenizerOf(configuration: Configuration): Tokenizer {
  const tokenizer = fileOf(configuration);
  const addedTokens = tokenizer.added_tokens as readonly AddedToken[];
  return createTokenizer({ tokenizer, config: {}, addedTokens, namedTokens: new Map() }, configuration.model);
}

/** The tokenizer.json. */
export function fileOf({ model: name, changes, added_tokens: added = [], ...parts }: Configuration): Json {
  const model: Json = { ...corpus.models[name], ...changes };
  const vocab = model.vocab as Readonly<Record<string, number>> | (readonly [string, number])[];
  const ids = new Map(Array.isArray(vocab) ? vocab.map(([token], id) => [token, id] as const) : Object.entries(vocab));
  let next = ids.size;
  const addedTokens = added.map(
    (token) => ({ ...token, id: ids.get(token.content as string) ?? next++ }) as AddedToken,
  );
  return { ...parts, added_tokens: addedTokens, model };
}

/** Python's `json.dumps`. */
const asciiJson = (value: unknown): string =>
  JSON.stringify(value).replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

const digest = (value: unknown): string => createHash('sha256').update(asciiJson(value)).digest('hex').slice(0, 6);

/** Python counts characters, not UTF-16 units. */
function placesOf({ begins, ends }: PlacedTokens, text: string): (readonly [number, number])[] {
  const characters = new Int32Array(text.length + 1);
  let count = 0;
  for (let unit = 0; unit < text.length; unit++) {
    characters[unit] = count;
    if (!(text.codePointAt(unit)! > 0xffff)) count++;
  }
  characters[text.length] = count;
  return begins.map((begin, i) => [characters[begin]!, characters[ends[i]!]!] as const);
}

const decoded = (tokenizer: Tokenizer, ids: readonly number[]): string =>
  digest([true, false].map((skipSpecialTokens) => tokenizer.decode(ids, { skipSpecialTokens })));

export const digestOfSequence = decoded;

/** As the fixture has it. */
export function digestOf(tokenizer: Tokenizer, text: string): string {
  let plain: PlacedTokens;
  let whole: PlacedTokens;
  try {
    plain = tokenizer.encodePlaces(text);
    whole = tokenizer.encodePlaces(text, { addSpecialTokens: true });
  } catch (error) {
    if (!(error instanceof Error) || !error.message.includes('does not cover')) throw error;
    return 'none';
  }
  const places = [plain, whole].map((tokens) => placesOf(tokens, text));
  return digest([plain.ids, whole.ids]) + digest(places) + decoded(tokenizer, whole.ids);
}
