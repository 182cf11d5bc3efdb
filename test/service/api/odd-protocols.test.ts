// Odd but valid requests of the Messages and Responses APIs, from their JSON to the text of the prompt, compared with vLLM's server
// (python/golden/make_conversions.py).
import { expect, test } from 'vitest';
import { parseMessagesRequest } from '../../../src/api/messages/messages-request.ts';
import { parseResponsesRequest } from '../../../src/api/responses/responses-request.ts';
import { differences, readTemplates } from '../../support/golden/vllm-prompts.ts';

const READERS = {
  messages: (body: unknown) => parseMessagesRequest(body).request,
  responses: (body: unknown) => parseResponsesRequest(body).complete({ conversation: [], items: new Map() }).request,
};
type Api = keyof typeof READERS;

const { requests, cases } = readTemplates('conversions') as {
  readonly requests: Readonly<Record<Api, readonly unknown[]>>;
  /** For each request the digests of the texts that vLLM's server may make of it. */
  readonly cases: readonly (readonly [api: Api, family: string, digests: string])[];
};

test.each(cases)('%s as vLLM renders them for %s', async (api, family, digests) => {
  expect(await differences(family, READERS[api], requests[api], digests)).toEqual([]);
});
