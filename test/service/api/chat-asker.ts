// Requests chat answers with given fields from a test server, and extracts what the field tests compare.
import { expect } from 'vitest';
import { chat, send, type TestServer } from '../../support/api/test-server.ts';

export interface Logprob {
  token: string;
  logprob: number;
  top_logprobs: { token: string; logprob: number }[];
}

export interface Answer {
  id: string;
  model: string;
  choices: {
    message: {
      role: string;
      content: string | null;
      reasoning: string | null;
      tool_calls?: { function: { name: string; arguments: string } }[];
    };
    logprobs: { content: Logprob[] } | null;
    finish_reason: string;
    stop_reason: string | number | null;
    token_ids: number[] | null;
  }[];
  prompt_token_ids: number[];
  prompt_logprobs: (Record<string, { rank: number }> | null)[] | null;
  usage: { prompt_tokens: number; completion_tokens: number; prompt_tokens_details: { cached_tokens: number } };
}

export type Fields = Readonly<Record<string, unknown>>;

export interface Row {
  /** Describes the effect of the field; throws if it had none. */
  readonly works: () => Promise<void>;
  /** Values that are refused, with the expected `loc type` of the error. */
  readonly wrong: readonly (readonly [value: unknown, fault: string])[];
  /** Fields that must be sent with it. */
  readonly with?: Fields;
}

export const parameters = { type: 'object', properties: { city: { enum: ['Oslo', 'Rome'] } }, required: ['city'] };
export const weather = { type: 'function', function: { name: 'weather', parameters } };

export const CHAT_URL = '/v1/chat/completions';

export type Asker = ReturnType<typeof createAsker>;

export function createAsker(server: () => TestServer) {
  /** Greedy, with token ids, unless the fields say otherwise. */
  async function ask(fields: Fields = {}): Promise<Answer> {
    const response = await send(server(), {
      url: CHAT_URL,
      body: chat({ temperature: 0, return_token_ids: true, ...fields }),
    });
    expect(response.statusCode, response.body).toBe(200);
    return response.json();
  }
  const tokens = async (fields: Fields = {}) => (await ask(fields)).choices[0]!.token_ids!;
  const text = async (fields: Fields = {}) => (await ask(fields)).choices[0]!.message.content!;
  const prompt = async (fields: Fields = {}) =>
    server().model.text.tokenizer.decode((await ask(fields)).prompt_token_ids, { skipSpecialTokens: false });
  const id = (word: string) => server().model.text.tokenizer.encode(word)[0]!;
  const eos = () => server().model.text.eosTokenIds[0]!;
  const differs =
    (field: Fields, base: Fields = {}) =>
    async () =>
      expect(await tokens({ ...base, ...field })).not.toEqual(await tokens(base));
  return { ask, tokens, text, prompt, id, eos, differs };
}
