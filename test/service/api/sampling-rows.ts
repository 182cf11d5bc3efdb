// Test rows for the sampling fields; see chat-fields.test.ts.
import { expect } from 'vitest';
import type { Asker, Row } from './chat-asker.ts';
import type { TestServer } from '../../support/api/test-server.ts';

const sampled = { temperature: 1.3, max_tokens: 24 };

export function samplingRows(asker: Asker, server: () => TestServer): Readonly<Record<string, Row>> {
  const { ask, tokens, text, id, eos, differs } = asker;
  /** The likeliest second tokens: one of them ends a beam early. */
  async function ends(): Promise<number[]> {
    const [first] = (await ask({ logprobs: true, top_logprobs: 4, return_tokens_as_token_ids: true })).choices;
    return first!.logprobs!.content[1]!.top_logprobs.slice(0, 2).map(({ token }) => Number(token.split(':')[1]));
  }
  return {
    n: {
      works: async () => expect((await ask({ ...sampled, n: 3 })).choices).toHaveLength(3),
      wrong: [
        [0, 'body.n greater_than_equal'],
        [129, 'body.n less_than_equal'],
        [1.5, 'body.n int_from_float'],
      ],
    },
    temperature: {
      works: differs({ temperature: 2 }, { max_tokens: 30 }),
      wrong: [
        [-0.1, 'body.temperature greater_than_equal'],
        ['x', 'body.temperature float_parsing'],
      ],
    },
    top_p: {
      works: async () => expect(await tokens({ ...sampled, top_p: 1e-9 })).toEqual(await tokens({ max_tokens: 24 })),
      wrong: [
        [0, 'body.top_p greater_than'],
        [1.1, 'body.top_p less_than_equal'],
      ],
    },
    top_k: {
      works: async () => expect(await tokens({ ...sampled, top_k: 1 })).toEqual(await tokens({ max_tokens: 24 })),
      wrong: [[-2, 'body.top_k greater_than_equal']],
    },
    min_p: {
      works: async () => expect(await tokens({ ...sampled, min_p: 1 })).toEqual(await tokens({ max_tokens: 24 })),
      wrong: [
        [-0.1, 'body.min_p greater_than_equal'],
        [1.1, 'body.min_p less_than_equal'],
      ],
    },
    frequency_penalty: {
      works: differs({ frequency_penalty: 2 }, { max_tokens: 60 }),
      wrong: [
        [2.1, 'body.frequency_penalty less_than_equal'],
        [-2.1, 'body.frequency_penalty greater_than_equal'],
      ],
    },
    presence_penalty: {
      works: differs({ presence_penalty: 2 }, { max_tokens: 60 }),
      wrong: [
        [3, 'body.presence_penalty less_than_equal'],
        [-3, 'body.presence_penalty greater_than_equal'],
      ],
    },
    repetition_penalty: {
      works: async () => {
        const ids = await tokens({ repetition_penalty: 50, max_tokens: 20 });
        expect(new Set(ids).size).toBe(20);
      },
      wrong: [[0, 'body.repetition_penalty greater_than']],
    },
    logit_bias: {
      works: async () => expect((await tokens({ logit_bias: { [id('a')]: 1000 } }))[0]).toBe(id('a')),
      wrong: [
        [{ foo: 1 }, 'body.logit_bias.foo value_error'],
        [{ 1: 'x' }, 'body.logit_bias.1 float_parsing'],
      ],
    },
    allowed_token_ids: {
      works: async () => expect(new Set(await tokens({ allowed_token_ids: [id('a')] }))).toEqual(new Set([id('a')])),
      wrong: [
        [[], 'body.allowed_token_ids too_short'],
        [[-1], 'body.allowed_token_ids.0 greater_than_equal'],
      ],
    },
    bad_words: {
      works: async () => {
        const word = server().model.text.tokenizer.tokenText((await tokens())[0]!);
        expect((await text({ bad_words: [word] })).startsWith(word)).toBe(false);
      },
      wrong: [
        ['a', 'body.bad_words list_type'],
        [[''], 'body.bad_words.0 string_too_short'],
      ],
    },
    seed: {
      works: async () => {
        expect(await tokens({ ...sampled, seed: 5 })).toEqual(await tokens({ ...sampled, seed: 5 }));
        expect(await tokens({ ...sampled, seed: 5 })).not.toEqual(await tokens({ ...sampled, seed: 6 }));
      },
      wrong: [
        ['x', 'body.seed int_parsing'],
        [1.5, 'body.seed int_from_float'],
      ],
    },
    use_beam_search: {
      works: async () => {
        const { choices } = await ask({ use_beam_search: true, n: 3, logprobs: true, max_tokens: 5 });
        const sums = choices.map(({ logprobs }) => logprobs!.content.reduce((sum, each) => sum + each.logprob, 0));
        const greedy = (await ask({ logprobs: true, max_tokens: 5 })).choices[0]!.logprobs!.content;
        expect(sums).toEqual(sums.toSorted((a, b) => b - a));
        expect(sums[0]).toBeGreaterThanOrEqual(greedy.reduce((sum, each) => sum + each.logprob, 0) - 1e-5);
        expect(new Set(choices.map(({ token_ids: ids }) => ids!.join())).size).toBe(3);
      },
      wrong: [
        ['maybe', 'body.use_beam_search bool_parsing'],
        [null, 'body.use_beam_search bool_type'],
      ],
    },
    length_penalty: {
      works: async () => {
        // Beams of unequal length: with a large penalty the long ones win, with a negative one those that end at once.
        const beams = { use_beam_search: true, n: 2, max_tokens: 6, stop_token_ids: await ends() };
        const [long, short] = await Promise.all([5, -5].map((length_penalty) => tokens({ ...beams, length_penalty })));
        expect(long!.length).toBeGreaterThan(short!.length);
      },
      wrong: [
        ['x', 'body.length_penalty float_parsing'],
        [null, 'body.length_penalty float_type'],
      ],
    },
    logits_processors: {
      works: async () => void (await ask({ logits_processors: [] })),
      wrong: [
        [['some.module'], 'body.logits_processors value_error'],
        [[{ qualname: 'a', extra: 1 }], 'body.logits_processors.0 value_error'],
      ],
    },
    max_tokens: {
      works: async () => expect(await tokens({ max_tokens: 3 })).toHaveLength(3),
      wrong: [[0, 'body.max_tokens greater_than_equal']],
    },
    max_completion_tokens: {
      works: async () => expect(await tokens({ max_completion_tokens: 2 })).toHaveLength(2),
      wrong: [[-1, 'body.max_completion_tokens greater_than_equal']],
    },
    min_tokens: {
      works: async () => {
        const stop_token_ids = [(await tokens())[2]!];
        expect((await tokens({ stop_token_ids })).length).toBeLessThanOrEqual(3);
        expect((await tokens({ stop_token_ids, min_tokens: 6 })).length).toBeGreaterThanOrEqual(6);
      },
      wrong: [
        [-1, 'body.min_tokens greater_than_equal'],
        [null, 'body.min_tokens int_type'],
      ],
    },
    stop: {
      works: async () => {
        const stop = (await text()).slice(4, 6);
        const { message, stop_reason: reason } = (await ask({ stop: [stop] })).choices[0]!;
        expect(message.content).not.toContain(stop);
        expect(reason).toBe(stop);
      },
      wrong: [
        ['', 'body.stop string_too_short'],
        [[''], 'body.stop.0 string_too_short'],
      ],
    },
    stop_token_ids: {
      works: async () => {
        const [, second] = await tokens();
        const { finish_reason, stop_reason } = (await ask({ stop_token_ids: [second] })).choices[0]!;
        expect({ finish_reason, stop_reason }).toEqual({ finish_reason: 'stop', stop_reason: second });
      },
      wrong: [
        [['a'], 'body.stop_token_ids.0 int_parsing'],
        [5, 'body.stop_token_ids list_type'],
      ],
    },
    include_stop_str_in_output: {
      works: async () => {
        const stop = (await text()).slice(4, 6);
        expect((await text({ stop, include_stop_str_in_output: true })).endsWith(stop)).toBe(true);
        const [, second] = await tokens();
        const kept = await text({ stop_token_ids: [second], include_stop_str_in_output: true });
        expect(kept).not.toBe(await text({ stop_token_ids: [second] }));
      },
      wrong: [['x', 'body.include_stop_str_in_output bool_parsing']],
    },
    ignore_eos: {
      works: async () => {
        const toEos = { logit_bias: { [eos()]: 100 }, max_tokens: 5 };
        expect((await ask(toEos)).choices[0]!.finish_reason).toBe('stop');
        const { finish_reason, token_ids } = (await ask({ ...toEos, ignore_eos: true })).choices[0]!;
        expect({ finish_reason, token_ids }).toEqual({ finish_reason: 'length', token_ids: Array(5).fill(eos()) });
      },
      wrong: [[3, 'body.ignore_eos bool_parsing']],
    },
  };
}
