// The tokens of examples, and which of them are trained, as Transformers gives them for 26 chat templates with 8 kinds of tokenizers
// (python/golden/make_examples.py).
import { describe, expect, test } from 'vitest';
import { readSftLine } from '#rows/sft';
import { createChatTemplate } from '#text/chat-template';
import { createTokenizer } from '#text/tokenizer';
import type { AddedToken, Json } from '#text/tokenizer-files';
import { tokenizeSftRow } from '#training/sft-rows';
import { readFixture } from '../../../../test/golden/fixture.ts';
import { createConversationEncoder } from './conversation-encoder.ts';

interface Expected {
  readonly now: string;
  /** Title → line of a data set. */
  readonly rows: Readonly<Record<string, string>>;
  readonly templates: Readonly<Record<string, string>>;
  readonly cases: readonly {
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
  }[];
}

const { now, rows, templates, cases } = readFixture<Expected>('examples/expected.json');
const tokenizers = readFixture<Readonly<Record<string, Json>>>('examples/tokenizers.json');
const clock = { now: () => new Date(now).getTime() };

function encoderOf({ template, tokenizer: kind, stops, bos, added }: Expected['cases'][number]) {
  const namedTokens = new Map([['eos_token', stops[0]!], ...(bos === null ? [] : [['bos_token', bos] as const])]);
  const tokenizer = createTokenizer(
    { tokenizer: tokenizers[kind]!, config: {}, addedTokens: added, namedTokens },
    kind,
  );
  const chatTemplate = createChatTemplate({ default: templates[template]! }, namedTokens, clock);
  const eosTokenIds = stops.map((stop) => tokenizer.tokenId(stop)!);
  return createConversationEncoder(template, { tokenizer, chatTemplate, eosTokenIds }, tokenizer.vocabSize);
}

function rowOf(name: string) {
  const read = readSftLine(rows[name]!);
  if ('problem' in read) throw new Error(read.problem);
  return read.row;
}

const runsOf = (trained: Uint8Array): [number, number][] => {
  const edges = Array.from({ length: trained.length + 1 }, (_, i) => i).filter(
    (i) => (trained[i - 1] ?? 0) !== (trained[i] ?? 0),
  );
  return edges.flatMap((edge, i) => (i % 2 === 0 ? [[edge, edges[i + 1]!] as [number, number]] : []));
};

/** The tokenizer library has no byte fallback for Unigram yet: its ids are those of `<unk>`. In these vocabularies the bytes follow `<unk>`. */
const lacksBytes = (each: Expected['cases'][number], ids: readonly number[] = []): boolean =>
  each.tokenizer === 'unigram-fallback' && ids.some((id) => id >= 1 && id <= 256);

describe.each(cases)('$template with the tokenizer $tokenizer', (each) => {
  for (const { name, refused, ids, sequences: expected } of each.conversations) {
    const check = lacksBytes(each, ids) ? test.fails : test;
    check(name, async () => {
      const encoder = encoderOf(each);
      const read = tokenizeSftRow(rowOf(name), encoder, 'all');
      if (refused !== undefined) {
        await expect(read).rejects.toThrow(refused);
        return;
      }
      const { sequences } = await read;
      if (expected) {
        const found = sequences.map(({ tokens, trained }) => ({ ids: [...tokens], trained: runsOf(trained) }));
        expect(found).toEqual(expected);
        return;
      }
      const last = sequences.at(-1)!;
      expect([...last.tokens].slice(0, ids.length)).toEqual(ids.slice(0, last.tokens.length));
      expect(each.stops.map((stop) => encoder.findToken(stop))).toContain(last.tokens.at(-1));
    });
  }
});
