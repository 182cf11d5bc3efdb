// Log-probabilities in the format of OpenAI's older API: four lists, by token. Offsets refer to the text of the choice, including an
// echoed prompt, and count code points, as in Python.
import { lazily, LazyList } from '#base/lazy-list';
import type { ChatDelta } from '#services/chat/answer';
import type { CompletionAnswer } from '#services/chat/completions';
import { finite } from './chat-logprobs.ts';
import type { CompletionFormat } from './completion-request.ts';

type SampledToken = NonNullable<ChatDelta['token']>;
interface Listed {
  readonly tokenId: number;
  readonly logprob: number;
}

export interface LegacyLogprobs {
  readonly text_offset: number[];
  readonly token_logprobs: (number | null)[];
  readonly tokens: string[];
  readonly top_logprobs: LazyList<Record<string, number> | null>;
}

/** For one choice, whose tokens arrive in order. */
export interface LegacyLogprobsWriter {
  /** Null: not requested. The first token of a text has none. */
  prompt(answer: CompletionAnswer): LegacyLogprobs | null;
  sampled(tokens: readonly SampledToken[]): LegacyLogprobs | null;
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

  /** `isShown`: whether the text contains the token; special tokens may be omitted. */
  function write(entries: readonly Entry[], isShown: (tokenId: number) => boolean): LegacyLogprobs {
    const top = ({ listed }: Entry) =>
      listed && Object.fromEntries(listed.map((each) => [nameOf(each.tokenId), finite(each.logprob)]));
    const written: LegacyLogprobs = {
      ...{ text_offset: [], token_logprobs: [], tokens: [] },
      top_logprobs: lazily(entries, top),
    };
    for (const { tokenId, logprob } of entries) {
      written.text_offset.push(offset);
      if (isShown(tokenId)) offset += Array.from(tokenizer.tokenText(tokenId)).length;
      written.tokens.push(nameOf(tokenId));
      written.token_logprobs.push(logprob === null ? null : finite(logprob));
    }
    return written;
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
      return write(
        promptTokens.map((tokenId, index) => {
          const listed = report?.logprobs?.[index] ?? null; // its first entry is the token itself
          return { tokenId, logprob: listed?.[0]?.logprob ?? null, listed };
        }),
        isShown,
      );
    },
    sampled(tokens) {
      if (logprobs === null) return null;
      return write(
        tokens.map((token) => ({
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
  return {
    text_offset: written.flatMap((part) => part.text_offset),
    token_logprobs: written.flatMap((part) => part.token_logprobs),
    tokens: written.flatMap((part) => part.tokens),
    top_logprobs: new LazyList(...written.map((part) => part.top_logprobs)),
  };
}

/** For a chunk, whose lists are short. */
export const forChunk = (logprobs: LegacyLogprobs | null) =>
  logprobs && { ...logprobs, top_logprobs: [...logprobs.top_logprobs] };
