// Log-probabilities in the format of OpenAI's older API: four lists, by token. Offsets refer to the text of the choice, including an
// echoed prompt, and count code points, as in Python.
import { lazily, LazyList } from '#base/lazy-list';
import { createNumberList } from '#base/number-list';
import type { SampledToken } from '#services/chat/collected-tokens';
import type { CompletionAnswer } from '#services/chat/completions';
import { finite } from './chat-logprobs.ts';
import type { CompletionFormat } from './completion-request.ts';

interface Listed {
  readonly tokenId: number;
  readonly logprob: number;
}

export interface LegacyLogprobs {
  readonly text_offset: LazyList<number>;
  readonly token_logprobs: LazyList<number | null>;
  readonly tokens: LazyList<string>;
  readonly top_logprobs: LazyList<Record<string, number> | null>;
}

/** For one choice, whose tokens arrive in order. */
export interface LegacyLogprobsWriter {
  /** Null: not requested. The first token of a text has none. */
  prompt(answer: CompletionAnswer): LegacyLogprobs | null;
  sampled(tokens: Iterable<SampledToken>): LegacyLogprobs | null;
}

export function createLegacyLogprobs(
  { model: { base } }: CompletionAnswer,
  { logprobs, tokensAsTokenIds, skipSpecialTokens }: CompletionFormat,
): LegacyLogprobsWriter {
  const { tokenizer } = base.text;
  const nameOf = (id: number) => (tokensAsTokenIds ? `token_id:${id}` : tokenizer.tokenText(id));
  const answered = tokenizer.decodeStream({ skipSpecialTokens });
  let offset = 0;

  interface Entry {
    readonly tokenId: number;
    readonly logprob: number | null;
    readonly listed: readonly Listed[] | null;
  }

  /** `textOf`: what the next token adds to the text; nothing if it does not complete a character. */
  function write(entries: Iterable<Entry>, textOf: (tokenId: number) => string): LegacyLogprobs {
    const top = ({ listed }: Entry) =>
      listed && Object.fromEntries(listed.map((each) => [nameOf(each.tokenId), finite(each.logprob)]));
    const offsets = createNumberList(Int32Array);
    for (const { tokenId } of entries) {
      offsets.push(offset);
      offset += characters(textOf(tokenId));
    }
    return {
      text_offset: new LazyList(offsets.read()),
      token_logprobs: lazily(entries, ({ logprob }) => (logprob === null ? null : finite(logprob))),
      tokens: lazily(entries, ({ tokenId }) => nameOf(tokenId)),
      top_logprobs: lazily(entries, top),
    };
  }

  return {
    prompt({ promptTokens, promptText, prompt: { report } }) {
      if (logprobs === null) return null;
      const { push } = tokenizer.decodeStream({ skipSpecialTokens: false });
      let rest = promptText;
      const textOf = (tokenId: number) => {
        if (tokenizer.isSpecial(tokenId) && !rest.startsWith(tokenizer.tokenText(tokenId))) return '';
        const text = push(tokenId);
        rest = rest.slice(text.length);
        return text;
      };
      const entry = ([index, tokenId]: readonly [number, number]) => {
        const listed = report?.logprobs?.[index] ?? null; // its first entry is the token itself
        return { tokenId, logprob: listed?.[0]?.logprob ?? null, listed };
      };
      return write(lazily({ [Symbol.iterator]: () => promptTokens.entries() }, entry), textOf);
    },
    sampled(tokens) {
      if (logprobs === null) return null;
      return write(
        lazily(tokens, (token) => ({
          tokenId: token.tokenId,
          logprob: token.logprob,
          listed: [token, ...token.topLogprobs.filter(({ tokenId }) => tokenId !== token.tokenId)],
        })),
        answered.push,
      );
    },
  };
}

/** Of a text: code points. */
const characters = (text: string): number => Array.from(text).length;

/** Concatenates the lists. */
export function joinLogprobs(parts: readonly (LegacyLogprobs | null)[]): LegacyLogprobs | null {
  const written = parts.filter((part) => part !== null);
  if (written.length === 0) return null;
  const joined = <K extends keyof LegacyLogprobs>(field: K) =>
    new LazyList<unknown>(...written.map((part) => part[field])) as LegacyLogprobs[K];
  return {
    text_offset: joined('text_offset'),
    token_logprobs: joined('token_logprobs'),
    tokens: joined('tokens'),
    top_logprobs: joined('top_logprobs'),
  };
}

/** For a chunk, whose lists are short. */
export const forChunk = (logprobs: LegacyLogprobs | null) =>
  logprobs &&
  Object.fromEntries(Object.entries(logprobs).map(([field, list]) => [field, [...(list as LazyList<unknown>)]]));
