// How fast a sampler prefills and decodes: at several batch sizes, after long contexts, with several adapters; compared with llama.cpp on
// the same shape.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DecoderConfig } from '#model-files/decoder-config';
import { openLlamaCpp } from './llama-cpp.ts';
import { makeModelDirectory } from './model-directory.ts';
import { alternate, say, type Measurement } from './measurement.ts';
import { writeRandomAdapters } from './random-adapters.ts';
import type { Sampler } from './sampling.ts';
import { openWhetstone } from './whetstone-sampler.ts';

export interface SamplingBench {
  readonly config: DecoderConfig;
  readonly modelDirectory: string;
  readonly threads: number;
  readonly rounds: number;
}

/** The same bits on both sides: float32 against F32; int8 and w8a8 against Q8_0, which has blocks of 32 with a scale, as int8 has. */
export const CONTESTS = [
  { part: 'float32', ours: ['float32'], peer: 'F32' },
  { part: '8 bits', ours: ['int8', 'w8a8'], peer: 'Q8_0' },
] as const;
type Contest = (typeof CONTESTS)[number];

const PREFILL_TOKENS = 512;
const DECODE_PROMPT_TOKENS = 64;
const DECODE_TOKENS = 64;
/** Of prompts in one batch, as rollouts of several turns have them. */
const MIXED_PROMPT_TOKENS = [10, 70, 150, 400];
const BATCHES = [1, 8, 32];
const CONTEXTS = [64, 512, 2_048, 8_192];
const LONG_DECODE_TOKENS = 32;
const ADAPTER_COUNTS = [1, 4, 16];
const ADAPTED_BATCH = 32;

export async function* benchSampling(bench: SamplingBench, contest: Contest): AsyncGenerator<Measurement> {
  const { config, rounds } = bench;
  const contestants = await openContestants(bench, contest);
  const decode = async (what: string, given: readonly (readonly number[])[]): Promise<Measurement> => ({
    what: `${contest.part} decode, ${what}`,
    unit: 'tokens/s',
    tokensPerSecond: await alternate(
      contestants,
      rounds,
      async (s) => (await s.generate(given, DECODE_TOKENS)).decodeRate,
    ),
  });
  yield await prefill(contestants, bench, contest.part, PREFILL_TOKENS);
  for (const batch of BATCHES) yield await decode(`batch ${batch}`, prompts(config, batch, DECODE_PROMPT_TOKENS));
  yield await decode('8 lengths mixed', prompts(config, 8, ...MIXED_PROMPT_TOKENS));
  for (const sampler of contestants) await sampler.close();
}

/** One conversation, with longer and longer contexts. The shape takes part with as many positions as that needs. */
export async function* benchContexts(bench: SamplingBench, contest: Contest): AsyncGenerator<Measurement> {
  const maxPositions = CONTEXTS.at(-1)! + LONG_DECODE_TOKENS;
  const config = { ...bench.config, maxPositions };
  const modelDirectory = await makeModelDirectory(config);
  const contestants = await openContestants({ ...bench, config, modelDirectory }, contest);
  for (const context of CONTEXTS) {
    const given = prompts(config, 1, context);
    yield await prefill(contestants, bench, contest.part, context);
    yield {
      what: `${contest.part} decode behind ${context}`,
      unit: 'tokens/s',
      tokensPerSecond: await alternate(
        contestants,
        bench.rounds,
        async (s) => (await s.generate(given, LONG_DECODE_TOKENS)).decodeRate,
      ),
    };
  }
  for (const sampler of contestants) await sampler.close();
  await rm(modelDirectory, { recursive: true, force: true });
}

/** What adapters cost a batch: the peer is the same sampler without adapters. */
export async function* benchAdapters(bench: SamplingBench, contest: Contest): AsyncGenerator<Measurement> {
  const { config, modelDirectory, threads, rounds } = bench;
  const directory = await mkdtemp(join(tmpdir(), 'whetstone-bench-adapters-'));
  const adapters = await writeRandomAdapters(directory, config, ADAPTER_COUNTS.at(-1)!);
  const given = prompts(config, ADAPTED_BATCH, DECODE_PROMPT_TOKENS);
  for (const precision of contest.ours) {
    const sampler = await openWhetstone(modelDirectory, precision, threads);
    for (const count of ADAPTER_COUNTS) {
      const contestants = [
        { name: sampler.name, adapters: adapters.slice(0, count) },
        { name: 'without adapters', adapters: [] },
      ];
      yield {
        what: `${precision} batch ${ADAPTED_BATCH}, ${count} adapters`,
        unit: 'tokens/s',
        tokensPerSecond: await alternate(
          contestants,
          rounds,
          async (each) => (await sampler.generate(given, DECODE_TOKENS, each.adapters)).decodeRate,
        ),
      };
    }
    await sampler.close();
  }
  await rm(directory, { recursive: true, force: true });
}

async function openContestants(
  { config, modelDirectory, threads }: SamplingBench,
  { ours, peer }: Contest,
): Promise<Sampler[]> {
  const contestants: Sampler[] = [];
  for (const precision of ours) contestants.push(await openWhetstone(modelDirectory, precision, threads));
  // Also with a core left to Node's own thread: its threads spin while they wait, and with few cores it may be faster so.
  for (const count of new Set([threads, Math.max(1, threads - 1)])) {
    const llamaCpp = await openLlamaCpp(config, peer, count);
    if (llamaCpp) contestants.push(llamaCpp);
  }
  if (contestants.length === ours.length)
    say('llama.cpp is not installed: npm install --prefix bench/peers --ignore-scripts');
  return contestants;
}

async function prefill(
  contestants: readonly Sampler[],
  { config, rounds }: SamplingBench,
  part: string,
  tokens: number,
): Promise<Measurement> {
  const given = prompts(config, 1, tokens);
  const rate = async (s: Sampler) => (tokens / (await s.generate(given, 1)).firstTokenMs) * 1000;
  return {
    what: `${part} prefill ${tokens}`,
    unit: 'tokens/s',
    tokensPerSecond: await alternate(contestants, rounds, rate),
  };
}

const prompts = ({ vocab }: DecoderConfig, count: number, ...lengths: number[]): number[][] =>
  Array.from({ length: count }, (_, k) =>
    Array.from({ length: lengths[k % lengths.length]! }, (_, i) => ((i * 7919 + k * 104_729) % (vocab - 1)) + 1),
  );
