// Group sampling, as RL rollouts need it: n choices of one long prompt, compared with as many separate requests that share nothing. The
// peer is our own engine with its prefix cache off; no other CPU engine accepts n in one request.
import { silentLog } from '#base/log';
import { PLAIN_SAMPLING } from '#domain/sampling';
import { PLAIN_REQUEST, type GenerateRequest, type InferenceEngine } from '#engine/inference-engine';
import { DEFAULT_INFERENCE_LIMITS } from '#engine/onnx/serving/inference-limits';
import { openOnnxInferenceEngine } from '#engine/onnx/serving/onnx-inference-engine';
import { median } from './measurement.ts';

export interface GroupTimes {
  readonly name: string;
  readonly tokensPerSecond: number;
}

const PROMPT_TOKENS = 512;
const NEW_TOKENS = 32;
export const GROUP_SIZE = 16;

/** Completion tokens per second, from the first request to the last token. */
export async function timeGroups(modelDirectory: string, threads: number, rounds: number): Promise<GroupTimes[]> {
  const open = (prefixCacheBytes: number) =>
    openOnnxInferenceEngine({
      modelDirectory,
      threads,
      limits: { ...DEFAULT_INFERENCE_LIMITS, prefixCacheBytes },
      log: silentLog,
    });
  const [sharing, alone] = [await open(DEFAULT_INFERENCE_LIMITS.prefixCacheBytes), await open(0)];
  const contestants = [
    { name: `n = ${GROUP_SIZE}`, run: (round: number) => run(sharing, [request(round, GROUP_SIZE)]) },
    {
      name: `${GROUP_SIZE} requests, prefix cache`,
      run: (round: number) =>
        run(
          sharing,
          Array.from({ length: GROUP_SIZE }, () => request(1_000 + round, 1)),
        ),
    },
    {
      name: `${GROUP_SIZE} requests, no prefix cache`,
      run: (round: number) =>
        run(
          alone,
          Array.from({ length: GROUP_SIZE }, () => request(round, 1)),
        ),
    },
  ];
  const samples = contestants.map((): number[] => []);
  for (let round = 0; round < rounds + 1; round++) {
    for (const [i, contestant] of contestants.entries()) {
      const tokensPerSecond = await contestant.run(round);
      if (round > 0) samples[i]!.push(tokensPerSecond); // the first round warms up
    }
  }
  await sharing.close();
  await alone.close();
  return contestants.map(({ name }, i) => ({ name, tokensPerSecond: median(samples[i]!) }));
}

/** Each round has a prompt of its own, so that none of it is cached. */
const request = (round: number, n: number): GenerateRequest => ({
  ...PLAIN_REQUEST,
  requestId: `group-${round}`,
  promptTokens: Array.from({ length: PROMPT_TOKENS }, (_, i) => ((i * 7919 + round * 104_729) % 10_000) + 1),
  adapter: null,
  n,
  sampling: { ...PLAIN_SAMPLING, temperature: 1, maxTokens: NEW_TOKENS },
});

async function run(engine: InferenceEngine, requests: readonly GenerateRequest[]): Promise<number> {
  const startMs = performance.now();
  await Promise.all(
    requests.map(async (one) => {
      for await (const _ of engine.generate(one, new AbortController().signal));
    }),
  );
  return ((GROUP_SIZE * NEW_TOKENS) / (performance.now() - startMs)) * 1000;
}
