// Completions and streams of calls after a script: answers that a model with random weights never writes.
import { expect, test } from 'vitest';
import type { z } from 'zod';
import { textCompletionSchema } from '#api/chat/completion-response-schema';
import { tokenTexts } from '#text/detokenizer';
import { shareScriptedServer, type Script } from './scripted-engine.ts';
import { BASE, send } from '../../support/api/test-server.ts';

const script: Script = { text: '', asked: null };
const server = await shareScriptedServer(script);

async function complete(text: string, fields: object) {
  script.text = text;
  const body = {
    model: BASE,
    prompt: 'Once 🙂 upon',
    max_tokens: 100,
    ...fields,
  };
  const response = await send(server, { url: '/v1/completions', body });
  expect(response.statusCode, response.body).toBe(200);
  return response.json<z.output<typeof textCompletionSchema>>().choices[0]!;
}

test('a stop string ends the answer after min_tokens although it begins before', async () => {
  const text = 'Hello there, world.';
  const pieces = tokenTexts(server.model.text.tokenizer, server.model.text.tokenizer.encode(text));
  const before = pieces.slice(0, 3).join('');
  const stop = before.slice(-1) + pieces[3]!;
  for (const min_tokens of [0, 3])
    expect(await complete(text, { stop, min_tokens })).toMatchObject({
      text: before.slice(0, -1),
      stop_reason: stop,
    });
  expect(await complete(text, { stop, min_tokens: 4 })).toMatchObject({
    text,
    stop_reason: null,
  });
});

test.each([false, true])(
  'offsets are places in the text, also after characters of several tokens (echo: %j)',
  async (echo) => {
    const { text, logprobs } = await complete(' a 🙂🙃 time é漢 b', {
      logprobs: 0,
      echo,
    });
    const { tokens, text_offset: offsets } = logprobs!;
    const characters = Array.from(text);
    expect(tokens.filter((token) => token.includes('\uFFFD')).length).toBeGreaterThan(2);
    for (const [i, token] of tokens.slice(0, -1).entries())
      if (!token.includes('\uFFFD')) expect(characters.slice(offsets[i]).join('').startsWith(token), token).toBe(true);
    expect(offsets.at(-1)).toBe(characters.length);
  },
);

test('a chunk has one piece of each call, also where a token completes several', async () => {
  script.text =
    '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>\n<tool_call>\n{"name": "g", "arguments": {}}\n</tool_call>';
  const tools = ['f', 'g'].map((name) => ({ type: 'function', function: { name, parameters: { type: 'object' } } }));
  for (const tool_choice of ['auto', 'required']) {
    const messages = [{ role: 'user', content: 'Go' }];
    const body = { model: BASE, messages, tools, tool_choice, stream: true, max_tokens: 100 };
    const frames = (await send(server, { url: '/v1/chat/completions', body })).body.match(/(?<=^data: )\{.*$/gm)!;
    const pieces = frames.map((frame) => (JSON.parse(frame) as Chunk).choices[0]?.delta.tool_calls ?? []);
    for (const each of pieces) expect(new Set(each.map(({ index }) => index)).size).toBe(each.length);
    const written = [0, 1].map((call) => pieces.flat().filter(({ index }) => index === call));
    expect(written.map((own) => own.map((piece) => piece.function.arguments).join(''))).toEqual(['{"a": 1}', '{}']);
    expect(written.map(([first]) => [typeof first!.id, first!.function.name])).toEqual([
      ['string', 'f'],
      ['string', 'g'],
    ]);
  }
});

interface Chunk {
  readonly choices: readonly {
    readonly delta: {
      readonly tool_calls?: readonly {
        readonly index: number;
        readonly id?: string;
        readonly function: { readonly name?: string; readonly arguments: string };
      }[];
    };
  }[];
}
