// Builds a streaming answer: chunks of the chat endpoint become text, reasoning, tool calls and tokens of each choice. Pure; sends no
// requests.
import { columnsOf, type Alternative, type TokenColumns } from '../tokens/token-columns.ts';
import { textsOfBytes } from '../tokens/token-spans.ts';

interface WireToken {
  readonly logprob: number;
  readonly bytes: readonly number[] | null;
  readonly top_logprobs?: readonly { readonly logprob: number; readonly bytes: readonly number[] | null }[];
}

/** The fields of a chunk that are read. */
export interface Chunk {
  readonly choices?: readonly {
    readonly index: number;
    readonly delta: {
      readonly content?: string | null;
      readonly reasoning?: string | null;
      readonly tool_calls?: readonly {
        readonly index: number;
        readonly id?: string;
        readonly function?: { readonly name?: string; readonly arguments?: string };
      }[];
    };
    readonly logprobs?: { readonly content?: readonly WireToken[] | null } | null;
    readonly token_ids?: readonly number[] | null;
    readonly finish_reason?: string | null;
  }[];
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number } | null;
  readonly error?: { readonly message: string };
}

export interface Call {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

export interface Choice {
  readonly content: string;
  readonly reasoning: string;
  readonly calls: readonly Call[];
  readonly tokens: readonly WireToken[];
  readonly ids: readonly number[];
  readonly finish: string | null;
}

export interface Answer {
  readonly choices: readonly Choice[];
  readonly usage: Chunk['usage'];
}

export const NO_ANSWER: Answer = { choices: [], usage: null };
const NO_CHOICE: Choice = { content: '', reasoning: '', calls: [], tokens: [], ids: [], finish: null };

/** Throws the server's message if the stream reports a failure. */
export function addChunk(answer: Answer, chunk: Chunk): Answer {
  if (chunk.error) throw new Error(chunk.error.message);
  const choices = answer.choices.slice();
  for (const { index, delta, logprobs, token_ids: ids, finish_reason: finish } of chunk.choices ?? []) {
    const before = choices[index] ?? NO_CHOICE;
    choices[index] = {
      content: before.content + (delta.content ?? ''),
      reasoning: before.reasoning + (delta.reasoning ?? ''),
      calls: (delta.tool_calls ?? []).reduce(addCall, before.calls),
      tokens: [...before.tokens, ...(logprobs?.content ?? [])],
      ids: [...before.ids, ...(ids ?? [])],
      finish: finish ?? before.finish,
    };
  }
  return { choices: Array.from(choices, (choice) => choice ?? NO_CHOICE), usage: chunk.usage ?? answer.usage };
}

function addCall(
  calls: readonly Call[],
  { index, id, function: piece = {} }: { index: number; id?: string; function?: { name?: string; arguments?: string } },
): readonly Call[] {
  const before = calls[index] ?? { id: '', type: 'function' as const, function: { name: '', arguments: '' } };
  const next = calls.slice();
  next[index] = {
    ...before,
    id: id ?? before.id,
    function: {
      name: before.function.name + (piece.name ?? ''),
      arguments: before.function.arguments + (piece.arguments ?? ''),
    },
  };
  return next;
}

/** As the next request contains it. */
export const messageOf = ({ content, reasoning, calls }: Choice) => ({
  role: 'assistant',
  content: content === '' && calls.length > 0 ? null : content,
  ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
  ...(calls.length === 0 ? {} : { tool_calls: calls }),
});

/** Columns of all sampled tokens, including special tokens. */
export function tokensOf({ tokens, ids }: Choice): TokenColumns {
  const alternative = ({ logprob, bytes }: { logprob: number; bytes: readonly number[] | null }): Alternative => ({
    text: textsOfBytes([bytes ?? []]).join(''),
    logprob,
  });
  return columnsOf({
    texts: textsOfBytes(tokens.map(({ bytes }) => bytes ?? [])),
    ids: ids.length === tokens.length ? ids : null,
    sampler: tokens.map(({ logprob }) => logprob),
    alternatives: tokens.map(({ top_logprobs: top = [] }) => top.map(alternative)),
  });
}
