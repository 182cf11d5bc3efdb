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
  let offset = 0;

  interface Entry {
    readonly tokenId: number;
    readonly logprob: number | null;
    readonly listed: readonly Listed[] | null;
  }

  /** `isShown`: whether the text contains the token; special tokens may be omitted. Called once for each. */
  function write(entries: Iterable<Entry>, isShown: (tokenId: number) => boolean): LegacyLogprobs {
    const top = ({ listed }: Entry) =>
      listed && Object.fromEntries(listed.map((each) => [nameOf(each.tokenId), finite(each.logprob)]));
    const offsets = createNumberList(Int32Array);
    for (const { tokenId } of entries) {
      offsets.push(offset);
      if (isShown(tokenId)) offset += Array.from(tokenizer.tokenText(tokenId)).length;
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
      let rest = promptText;
      const isShown = (tokenId: number) => {
        const text = tokenizer.tokenText(tokenId);
        if (tokenizer.isSpecial(tokenId) && !rest.startsWith(text)) return false;
        rest = rest.slice(text.length);
        return true;
      };
      const entry = ([index, tokenId]: readonly [number, number]) => {
        const listed = report?.logprobs?.[index] ?? null; // its first entry is the token itself
        return { tokenId, logprob: listed?.[0]?.logprob ?? null, listed };
      };
      return write(lazily({ [Symbol.iterator]: () => promptTokens.entries() }, entry), isShown);
    },
    sampled(tokens) {
      if (logprobs === null) return null;
      return write(
        lazily(tokens, (token) => ({
          tokenId: token.tokenId,
          logprob: token.logprob,
          listed: [token, ...token.topLogprobs.filter(({ tokenId }) => tokenId !== token.tokenId)],
        })),
        (tokenId) => !skipSpecialTokens || !tokenizer.isSpecial(tokenId),
      );
    },
  };
}

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
