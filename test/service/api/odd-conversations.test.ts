// Odd but valid requests, from their JSON to the text of the prompt, compared with vLLM's server for the structure of each model family
// (python/golden/make_conversations.py).
import { expect, test } from 'vitest';
import { parseChatRequest } from '../../../src/api/chat/chat-request.ts';
import { differences, readTemplates } from '../../support/golden/vllm-prompts.ts';

const { requests, cases } = readTemplates('conversations') as {
  readonly requests: readonly unknown[];
  /** For each request the digests of the texts that vLLM's server may make of it. */
  readonly cases: readonly (readonly [family: string, digests: string])[];
};

/** vLLM gives parts to the first, which writes nothing for them, and a text to the second, which reads parts within a macro of messages. */
const MISREAD = new Set(['functiongemma', 'kimi-k2-thinking']);

test.each(cases.filter(([family]) => !MISREAD.has(family)))('as vLLM renders them for %s', async (family, digests) => {
  const read = (body: unknown) => parseChatRequest(structuredClone(body)).request;
  expect(await differences(family, read, requests, digests)).toEqual([]);
});
