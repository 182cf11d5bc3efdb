// fixtures/examples (python/golden/make_examples.py): chat templates and tokenizers of every kind, conversations, and their tokens.
import { createChatTemplate } from '#text/chat-template';
import { createTokenizer } from '#text/tokenizer';
import type { AddedToken, Json } from '#text/tokenizer-files';
import { createConversationEncoder } from '#services/jobs/data/conversation-encoder';
import { readFixture } from './fixture.ts';

export interface ExampleCase {
  readonly template: string;
  readonly tokenizer: string;
  /** Tokens that end a generation, the tokenizer's own first. */
  readonly stops: readonly string[];
  readonly bos: string | null;
  readonly added: readonly AddedToken[];
  readonly conversations: readonly {
    readonly name: string;
    readonly refused?: string;
    readonly ids: readonly number[];
    /** Null: no reference says what is trained. `trained`: runs, `[from, to)`. */
    readonly sequences:
      readonly { readonly ids: readonly number[]; readonly trained: readonly (readonly [number, number])[] }[] | null;
  }[];
}

export const examples = readFixture<{
  readonly now: string;
  /** Title → line of a data set. */
  readonly rows: Readonly<Record<string, string>>;
  readonly templates: Readonly<Record<string, string>>;
  readonly cases: readonly ExampleCase[];
}>('examples/expected.json');

const exampleTokenizers = readFixture<Readonly<Record<string, Json>>>('examples/tokenizers.json');

const namedTokensOf = ({ stops, bos }: ExampleCase): Map<string, string> =>
  new Map([['eos_token', stops[0]!], ...(bos === null ? [] : [['bos_token', bos] as const])]);

export function encoderOf(each: ExampleCase) {
  const { template, tokenizer: kind, stops, added } = each;
  const namedTokens = namedTokensOf(each);
  const files = { tokenizer: exampleTokenizers[kind]!, config: {}, addedTokens: added, namedTokens };
  const tokenizer = createTokenizer(files, kind);
  const clock = { now: () => new Date(examples.now).getTime() };
  const chatTemplate = createChatTemplate({ default: examples.templates[template]! }, namedTokens, clock);
  const eosTokenIds = stops.map((stop) => tokenizer.tokenId(stop)!);
  const encoder = createConversationEncoder(template, { tokenizer, chatTemplate, eosTokenIds }, tokenizer.vocabSize);
  return { encoder, tokenizer, eosTokenIds };
}
