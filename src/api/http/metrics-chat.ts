// Metrics of chat requests under vLLM's names, so that dashboards made for vLLM work with this server. `model_name` is the id of the
// base model: names of clients' models are not exposed, because /metrics is public.
import { Counter, Histogram, type Registry } from 'prom-client';
import type { Clock } from '#base/clock';

export interface ChatMetrics {
  begin(request: {
    readonly baseModel: string;
    readonly promptTokens: number;
    readonly choices: number;
    readonly startMs: number;
    readonly clock: Clock;
  }): ChatObservation;
}

export interface ChatObservation {
  /** Called for each sampled token. */
  token(choiceIndex: number): void;
  /** Called for each choice, after its last token. */
  finish(choiceIndex: number, ending: { readonly reason: string }): void;
  /** Called at the end of a request, however it ended: choices without a finish count as `unfinished`. Null: the prompt was not read. */
  end(report: { readonly cachedTokenCount: number } | null, unfinished: 'abort' | 'error'): void;
}

/** vLLM's engine reports `abort`; `tool_calls` is our own, where vLLM reports `stop`. */
const FINISH_REASONS = ['stop', 'length', 'tool_calls', 'abort', 'error'] as const;

// The buckets of vLLM's histograms, plus smaller ones: small models answer faster.
const FIRST_TOKEN_SECONDS = [0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80];
const INTER_TOKEN_SECONDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 1, 2.5, 5, 10];
const REQUEST_SECONDS = [0.1, 0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480];
const TOKENS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000];

export function createChatMetrics(registry: Registry, baseModelIds: () => readonly string[]): ChatMetrics {
  const registers = [registry];
  const labelNames = ['model_name'] as const;
  /** Series of known models start at zero: rates need a value before the first request. */
  const counter = (name: string, help: string) =>
    new Counter({
      name,
      help,
      labelNames,
      registers,
      collect() {
        for (const id of baseModelIds()) this.inc({ model_name: id }, 0);
      },
    });
  const histogram = (name: string, help: string, buckets: number[]) =>
    new Histogram({ name, help, labelNames, buckets, registers });

  const promptTokens = counter('vllm:prompt_tokens_total', 'Prompt tokens of chat requests, in tokens.');
  const generationTokens = counter('vllm:generation_tokens_total', 'Tokens sampled for chat requests, in tokens.');
  const cacheQueries = counter('vllm:prefix_cache_queries_total', 'Prompt tokens looked up in the cache, in tokens.');
  const cacheHits = counter('vllm:prefix_cache_hits_total', 'Prompt tokens found in the cache, in tokens.');
  const finished = new Counter({
    name: 'vllm:request_success_total',
    help: 'Choices of chat requests by how they ended; a request has one unless it asks for more.',
    labelNames: ['model_name', 'finished_reason'],
    registers,
    collect() {
      for (const id of baseModelIds())
        for (const reason of FINISH_REASONS) this.inc({ model_name: id, finished_reason: reason }, 0);
    },
  });
  const firstToken = histogram(
    'vllm:time_to_first_token_seconds',
    'Time from the arrival of a chat request to its first token, in seconds.',
    FIRST_TOKEN_SECONDS,
  );
  const interToken = histogram(
    'vllm:inter_token_latency_seconds',
    'Time between two tokens of one choice, in seconds.',
    INTER_TOKEN_SECONDS,
  );
  const endToEnd = histogram(
    'vllm:e2e_request_latency_seconds',
    'Time from the arrival of a chat request to the last token of its last choice, in seconds; complete answers only.',
    REQUEST_SECONDS,
  );
  const requestPrompt = histogram(
    'vllm:request_prompt_tokens',
    'Tokens of the prompt, per complete answer, in tokens.',
    TOKENS,
  );
  const requestGeneration = histogram(
    'vllm:request_generation_tokens',
    'Tokens sampled per finished choice, in tokens.',
    TOKENS,
  );

  return {
    begin({ baseModel, promptTokens: promptCount, choices, startMs, clock }) {
      const model = { model_name: baseModel };
      const counts = Array.from({ length: choices }, () => 0);
      const lastMs: (number | undefined)[] = [];
      let sampled = 0;
      let open = choices;

      const finish = (reason: string) => finished.inc({ ...model, finished_reason: reason });

      return {
        token(choiceIndex) {
          const nowMs = clock.now();
          const before = lastMs[choiceIndex];
          if (sampled++ === 0) firstToken.observe(model, (nowMs - startMs) / 1000);
          if (before !== undefined) interToken.observe(model, (nowMs - before) / 1000);
          lastMs[choiceIndex] = nowMs;
          counts[choiceIndex]!++;
        },
        finish(choiceIndex, ending) {
          open--;
          finish(ending.reason === 'cancelled' ? 'abort' : ending.reason);
          requestGeneration.observe(model, counts[choiceIndex]!);
        },
        end(report, unfinished) {
          promptTokens.inc(model, promptCount);
          generationTokens.inc(model, sampled);
          if (report) {
            cacheQueries.inc(model, promptCount);
            cacheHits.inc(model, report.cachedTokenCount);
          }
          if (open === 0) {
            requestPrompt.observe(model, promptCount);
            endToEnd.observe(model, (clock.now() - startMs) / 1000);
          }
          for (; open > 0; open--) finish(unfinished);
        },
      };
    },
  };
}
