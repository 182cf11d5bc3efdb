// What every InferenceEngine must do, depending on its capabilities. Run by the embedded engine in this process and in a child
// process, on a tiny random model. Knows no engine. The reference is the plain forward pass that the golden logits check.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PLAIN_SAMPLING, type SamplingParams } from '#domain/sampling';
import { createRandom } from '#base/random';
import type { EngineCapabilities } from '#engine/capabilities';
import {
  PLAIN_REQUEST,
  type AdapterRef,
  type GenerateRequest,
  type InferenceEngine,
  type TokenEvent,
} from '#engine/inference-engine';
import { linearLayers } from '#model-files/lora';
import { readPeftDirectory } from '#model-files/peft-directory';
import { createNeeding } from './needing.ts';
import { samplingSwitches } from './sampling-switches.ts';
import { openServingForward } from '../golden/serving-forward.ts';
import { writeTinyModel, type TinyModel } from '../serving/tiny-model.ts';

/** The engine under test. */
export interface InferenceUnderTest {
  readonly capabilities: EngineCapabilities;
  /** False: `open` cannot set its queue limits. */
  readonly isBounded?: false;
  /** Over the model's directory. How many choices may run, and how many more may wait: null is the engine's default. */
  readonly open: (
    model: TinyModel,
    queue: { readonly runningMax: number; readonly waitingMax: number } | null,
  ) => Promise<InferenceEngine>;
  /** Default: the smallest. With its context and vocabulary. */
  readonly writeModel?: () => Promise<TinyModel>;
}

/** A limit for hanging: longer than the slowest engine takes on a busy machine. */
const signal = () => AbortSignal.timeout(300_000);

export const randomPrompt = (length: number, seed: number, vocab = 260): number[] => {
  const random = createRandom(seed);
  return Array.from({ length }, () => random.integer(vocab));
};

export const sampling = (overrides: Partial<SamplingParams> = {}): SamplingParams => ({
  ...PLAIN_SAMPLING,
  seed: 1,
  maxTokens: 8,
  ...overrides,
});

export const request = (overrides: Partial<GenerateRequest> = {}): GenerateRequest => ({
  requestId: 'test',
  promptTokens: randomPrompt(12, 1),
  adapter: null,
  sampling: sampling(),
  n: 1,
  ...PLAIN_REQUEST,
  ...overrides,
});

/** Events by choice. */
export async function collect(engine: InferenceEngine, asked: GenerateRequest): Promise<TokenEvent[][]> {
  const choices: TokenEvent[][] = Array.from({ length: asked.n }, () => []);
  for await (const event of engine.generate(asked, signal())) choices[event.choiceIndex]!.push(event);
  return choices;
}

/** Takes one event, and the others once `meanwhile` has resolved. */
export async function collectLate(
  engine: InferenceEngine,
  asked: GenerateRequest,
  meanwhile: () => Promise<unknown>,
): Promise<TokenEvent[][]> {
  const choices: TokenEvent[][] = Array.from({ length: asked.n }, () => []);
  let isFirst = true;
  for await (const event of engine.generate(asked, AbortSignal.timeout(60_000))) {
    choices[event.choiceIndex]!.push(event);
    if (isFirst) await meanwhile();
    isFirst = false;
  }
  return choices;
}

export const tokensOf = (events: readonly TokenEvent[]): number[] => events.map((event) => event.tokenId);
export const bitsOf = (events: readonly TokenEvent[]) => events.map(({ tokenId, logprob }) => [tokenId, logprob]);

export function inferenceEngineContract(
  name: string,
  { capabilities, isBounded, open, writeModel = writeTinyModel }: InferenceUnderTest,
): void {
  describe(name, () => {
    const { exactReplay, exactLogprobs, promptLogprobs, unsupportedSampling } = capabilities;
    const needing = createNeeding(name);
    const whereReplayed = needing('exactReplay', exactReplay);
    const whereExact = needing('exactLogprobs', exactLogprobs);
    let model: TinyModel;
    let engine: InferenceEngine;
    let adapters: AdapterRef[];

    beforeAll(async () => {
      model = await writeModel();
      adapters = [
        await model.writeAdapter('first', { seed: 1, rank: 8 }),
        await model.writeAdapter('second', { seed: 2, rank: 3 }),
        await model.writeAdapter('third', { seed: 3, rank: 16 }),
      ];
      engine = await open(model, null);
    });
    afterAll(async () => {
      await engine.close();
      await model.remove();
    });

    test('says how long its context is and how many tokens it knows', () => {
      expect(engine.contextLength).toBe(512);
      expect(engine.vocabSize).toBe(260);
    });

    whereExact.each(['base', 'first', 'second', 'third'])(
      'greedy tokens are those of the plain forward pass (%s)',
      async (which) => {
        const adapter = adapters.find(({ id }) => id === which) ?? null;
        const weights = adapter && (await readPeftDirectory(adapter.directory, linearLayers(model.config)));
        const reference = await openServingForward(model.config, model.directory);
        const promptTokens = randomPrompt(70, 5);
        const asked = request({
          promptTokens,
          adapter,
          sampling: sampling({ temperature: 0, maxTokens: 20, topLogprobs: 3 }),
        });
        const [events] = await collect(engine, asked);
        const all = [...promptTokens, ...tokensOf(events!)];
        const [logits] = await reference.logits([all], weights);
        await reference.close();
        events!.forEach((event, i) => {
          const row = logits!.subarray((promptTokens.length + i - 1) * 260, (promptTokens.length + i) * 260);
          const sorted = Array.from(row.keys()).sort((a, b) => row[b]! - row[a]!);
          expect(event.tokenId).toBe(sorted[0]);
          const logSumExp = Math.log(row.reduce((sum, x) => sum + Math.exp(x), 0));
          expect(event.logprob).toBeCloseTo(row[sorted[0]!]! - logSumExp, 4);
          expect(event.topLogprobs.map((top) => top.tokenId)).toEqual(sorted.slice(0, 3));
          expect(event.topLogprobs[0]!.logprob).toBe(event.logprob);
        });
        expect(events!.map((event) => event.finishReason)).toEqual([...new Array<null>(19).fill(null), 'length']);
      },
    );

    whereReplayed.each([1, 2, 3, 7, 32])('a batch of %i returns the same bits as one by one', async (count) => {
      const asked = Array.from({ length: count }, (_, i) =>
        request({
          promptTokens: randomPrompt(3 + ((i * 37) % 130), i),
          adapter: [null, ...adapters][i % 4]!,
          sampling: sampling({ seed: i, maxTokens: 5 + ((i * 13) % 40), temperature: [0, 0.7, 1, 1.5][(i >> 2) % 4]! }),
        }),
      );
      const together = await Promise.all(asked.map((one) => collect(engine, one)));
      for (const [i, one] of asked.entries()) {
        const [alone] = await collect(engine, one);
        expect(bitsOf(together[i]![0]!), `request ${i}`).toEqual(bitsOf(alone!));
      }
    });

    test('adapters change the answer, each in its own way', async () => {
      const answers = await Promise.all(
        [null, ...adapters].map((adapter) =>
          collect(engine, request({ adapter, sampling: sampling({ temperature: 0 }) })),
        ),
      );
      expect(new Set(answers.map(([events]) => events![0]!.logprob)).size).toBe(4);
    });

    test('the base model answers in a batch with adapters as it does alone', async () => {
      for (const seed of [1, 2, 3, 4, 5, 6]) {
        const promptTokens = randomPrompt(12, seed);
        const ask = async (adapter: AdapterRef | null) => {
          const [events] = await collect(
            engine,
            request({ adapter, promptTokens, sampling: sampling({ temperature: 0 }) }),
          );
          return events!.map(({ logprob }) => logprob);
        };
        const [beside] = await Promise.all([null, ...adapters].map(ask));
        const alone = await ask(null);
        for (const [i, logprob] of beside!.entries()) expect(logprob).toBeCloseTo(alone[i]!, 3);
      }
    });

    whereReplayed('n choices are n requests with the seeds seed + i', async () => {
      const promptTokens = randomPrompt(40, 8);
      const choices = await collect(
        engine,
        request({ promptTokens, n: 5, sampling: sampling({ seed: 100, maxTokens: 30 }) }),
      );
      for (const [i, events] of choices.entries()) {
        const [single] = await collect(
          engine,
          request({ promptTokens, sampling: sampling({ seed: 100 + i, maxTokens: 30 }) }),
        );
        expect(bitsOf(events)).toEqual(bitsOf(single!));
      }
      expect(new Set(choices.map((events) => tokensOf(events).join())).size).toBe(5);
    });

    test('without a seed two requests differ', async () => {
      const asked = request({ sampling: sampling({ seed: null, maxTokens: 30, temperature: 1.5 }) });
      const [[first], [second]] = await Promise.all([collect(engine, asked), collect(engine, asked)]);
      expect(tokensOf(first!)).not.toEqual(tokensOf(second!));
    });

    test('a stop token ends the choice and is its last token', async () => {
      const greedy = sampling({ temperature: 0, maxTokens: 30 });
      const [free] = await collect(engine, request({ sampling: greedy }));
      const stopAt = tokensOf(free!)[5]!;
      const [stopped] = await collect(engine, request({ sampling: { ...greedy, stopTokenIds: [stopAt] } }));
      const end = tokensOf(free!).indexOf(stopAt);
      expect(tokensOf(stopped!)).toEqual(tokensOf(free!).slice(0, end + 1));
      expect(stopped!.at(-1)!.finishReason).toBe('stop');
    });

    test('a cancelled choice sends nothing more while the others continue', async () => {
      const stream = engine.generate(request({ n: 3, sampling: sampling({ maxTokens: 60 }) }), signal());
      const counts = [0, 0, 0];
      for await (const { choiceIndex } of stream) {
        counts[choiceIndex]!++;
        if (choiceIndex === 1) stream.cancelChoice(1);
      }
      expect(counts).toEqual([60, 1, 60]);
    });

    test('leaving the loop, cancelling all and aborting free the sequences', async () => {
      const long = request({ n: 2, sampling: sampling({ maxTokens: 480 }) });
      for await (const _ of engine.generate(long, signal())) break;
      const stream = engine.generate(long, signal());
      for await (const _ of stream) {
        stream.cancelChoice(0);
        stream.cancelChoice(1);
      }
      const controller = new AbortController();
      const aborted = async () => {
        for await (const _ of engine.generate(long, controller.signal)) controller.abort();
      };
      await expect(aborted()).rejects.toMatchObject({ code: 'cancelled' });
      await collect(engine, request()); // a later request runs after the cancels were seen
      await expect.poll(() => engine.status()).toMatchObject({ running: 0, waiting: 0 });
    });

    test('a signal that was already aborted results in an error and no token, and nothing is computed', async () => {
      const long = request({ n: 4, sampling: sampling({ maxTokens: 480 }) });
      const stream = engine.generate(long, AbortSignal.abort());
      await expect(stream[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'cancelled' });
      await collect(engine, request()); // would run beside it
      await expect.poll(() => engine.status(), { timeout: 400 }).toMatchObject({ running: 0, waiting: 0 });
    });

    test('adapters load once, are listed, and unload', async () => {
      await Promise.all([engine.loadAdapter(adapters[1]!), engine.loadAdapter(adapters[1]!)]);
      await expect.poll(() => engine.status().adapters).toContain('second');
      await engine.unloadAdapter('second');
      await engine.unloadAdapter('second');
      await expect.poll(() => engine.status().adapters).not.toContain('second');
    });

    test('an adapter of another model is refused by the name and shapes of its tensor', async () => {
      const other = await writeTinyModel('llama');
      const misfit = await other.writeAdapter('misfit', { seed: 1 });
      const wrong = expect.objectContaining({
        code: 'bad_model_files',
        message: expect.stringMatching(/[a-z]_proj.*\[.*\].*\[.*\]/) as string,
      }) as Error;
      await expect(engine.loadAdapter(misfit)).rejects.toEqual(wrong);
      await expect(collect(engine, request({ adapter: misfit }))).rejects.toEqual(wrong);
      await other.remove();
    });

    test.each([
      ['context_length_exceeded', request({ sampling: sampling({ maxTokens: 501 }) })],
      ['invalid_request', request({ promptTokens: [] })],
      ['invalid_request', request({ promptTokens: [260] })],
    ] as const)('a request that cannot run fails with %s', async (code, asked) => {
      await expect(collect(engine, asked)).rejects.toMatchObject({ code });
    });

    test('a prompt and completion may fill the context to the last token', async () => {
      const [events] = await collect(
        engine,
        request({ promptTokens: randomPrompt(500, 3), sampling: sampling({ maxTokens: 12 }) }),
      );
      expect(events).toHaveLength(12);
    });

    whereReplayed(
      'a prompt that was computed before gives the same bits, and says how much of it was there',
      async () => {
        const prompt = randomPrompt(150, 21);
        const asked = (promptTokens: number[], cacheScope = 'fresh', adapter = adapters[0]!) =>
          request({ promptTokens, cacheScope, adapter, n: 2, sampling: sampling({ maxTokens: 20 }) });
        const cached = (choices: TokenEvent[][]) =>
          choices.flat().find(({ prompt: told }) => told)!.prompt!.cachedTokenCount;
        const first = await collect(engine, asked(prompt));
        const again = await collect(engine, asked(prompt));
        expect(again.map(bitsOf)).toEqual(first.map(bitsOf));
        expect(cached(first)).toBe(0);
        expect(cached(again)).toBeGreaterThan(100); // engines keep prompts in blocks of their own size

        const longer = [...prompt.slice(0, 140), ...randomPrompt(30, 22)];
        const behindPrefix = await collect(engine, asked(longer));
        const alone = await collect(engine, asked(longer, 'another'));
        expect(behindPrefix.map(bitsOf)).toEqual(alone.map(bitsOf));
        expect(cached(behindPrefix)).toBeGreaterThan(100);
        expect(cached(behindPrefix)).toBeLessThanOrEqual(140);
        expect(cached(alone)).toBe(0);
        expect(cached(await collect(engine, asked(prompt, 'fresh', adapters[1])))).toBe(0);
      },
    );

    needing('promptLogprobs and exactLogprobs', promptLogprobs && exactLogprobs)(
      'prompt logprobs are those of the plain forward pass, with their ranks, also in chunks and after a cached prompt',
      async () => {
        const promptTokens = randomPrompt(70, 23);
        const reference = await openServingForward(model.config, model.directory);
        const [logits] = await reference.logits([promptTokens], null);
        await reference.close();
        await collect(engine, request({ promptTokens }));
        const asked = request({ promptTokens, n: 2, sampling: sampling({ promptLogprobs: 2, maxTokens: 2 }) });
        const reports = (await collect(engine, asked)).flat().flatMap(({ prompt }) => prompt ?? []);
        expect(reports).toHaveLength(1);
        const { logprobs } = reports[0]!;
        expect(logprobs).toHaveLength(70);
        expect(logprobs![0]).toBeNull();
        for (let at = 1; at < 70; at++) {
          const row = logits!.subarray((at - 1) * 260, at * 260);
          const sorted = Array.from(row.keys()).sort((a, b) => row[b]! - row[a]!);
          const [own, ...best] = logprobs![at]!;
          expect(own).toMatchObject({ tokenId: promptTokens[at], rank: sorted.indexOf(promptTokens[at]!) + 1 });
          const logSumExp = Math.log(row.reduce((sum, x) => sum + Math.exp(x), 0));
          expect(own!.logprob).toBeCloseTo(row[promptTokens[at]!]! - logSumExp, 4);
          expect(best.map(({ tokenId }) => tokenId)).toEqual(
            sorted.slice(0, 2).filter((tokenId) => tokenId !== promptTokens[at]),
          );
        }
      },
    );

    samplingSwitches(needing, unsupportedSampling, async (overrides) => {
      const asked = request({ sampling: sampling({ temperature: 0, maxTokens: 12, ...overrides }) });
      return tokensOf((await collect(engine, asked))[0]!);
    });

    const outside = [
      ['logit_bias', { logitBias: [[260, 1]] }],
      ['allowed_token_ids', { allowedTokenIds: [1, -1] }],
      ['stop_token_ids', { stopTokenIds: [1e9] }],
      ['logprob_token_ids', { logprobTokenIds: [1e9] }],
    ] as const;
    test.each(outside.filter(([, asked]) => !unsupportedSampling.some((name) => name in asked)))(
      'a token outside the vocabulary in %s is refused by name',
      async (param, overrides) => {
        const asked = collect(engine, request({ sampling: sampling(overrides) }));
        await expect(asked).rejects.toMatchObject({
          code: 'invalid_request',
          param,
          message: expect.stringMatching(/260/) as string,
        });
      },
    );

    needing('a queue whose length a test can choose', isBounded !== false)(
      'a full queue refuses, and says so',
      async () => {
        const small = await open(model, { runningMax: 1, waitingMax: 4 });
        const asked = request({ n: 2, sampling: sampling({ maxTokens: 100 }) });
        const outcomes = await Promise.allSettled(Array.from({ length: 12 }, () => collect(small, asked)));
        await small.close();
        const refused = outcomes
          .filter((outcome) => outcome.status === 'rejected')
          .map((outcome) => outcome.reason as unknown);
        expect(refused.length).toBeGreaterThan(0);
        expect(refused.length).toBeLessThan(12);
        for (const reason of refused)
          expect(reason).toMatchObject({ code: 'too_many_requests', retryAfterSeconds: expect.any(Number) as number });
      },
    );

    test('after close a request fails instead of hanging', async () => {
      const closing = await open(model, null);
      const running = collect(closing, request({ sampling: sampling({ maxTokens: 480 }) }));
      running.catch(() => {}); // awaited below
      await closing.close();
      await expect(running).rejects.toMatchObject({ code: 'engine_unavailable' });
      await expect(collect(closing, request())).rejects.toMatchObject({ code: 'engine_unavailable' });
    });
  });
}
