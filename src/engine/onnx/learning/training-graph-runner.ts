// Runs the training graphs, one compiled at a time: a compiled graph keeps the buffers of its longest row until it is
// closed, and the memory for training is one budget. A session trains with one loss, so it compiles once; the next session,
// if it starts soon and uses the same graph, does not compile.
import type { DecoderConfig } from '#model-files/decoder-config';
import type { LossProgram } from '../../loss-program.ts';
import { openSession, type Feed, type Session } from '../graph/session.ts';
import { buildTrainGraph, type Activations, type FrozenBase, type TrainedPart } from './train-graph.ts';

/**
 * Beside other processes a thread that spins takes the core from the thread that it waits for: a row of 256 tokens took 7.3 ms of
 * processor time per token with ONNX Runtime's default, 4.4 without spinning or with this bound, and 5.0 with 100 µs (135M shape,
 * two threads, two busy cores of a Zen 5). The bound is longer than the nodes between two products take.
 */
const SPINS_MICROSECONDS = 20;

export interface TrainingGraphRunner {
  /** Results by output name; calls run one after another. `loss` null: log-probabilities only. */
  run(
    trained: TrainedPart,
    loss: LossProgram | null,
    activations: Activations,
    feeds: Readonly<Record<string, Feed>>,
  ): Promise<Readonly<Record<string, Float32Array>>>;
  /** Nothing needs to run for now: releases the memory after `idleMs`, at once if that is 0. */
  rest(): Promise<void>;
  /** Releases the memory; the next run compiles again. */
  close(): Promise<void>;
}

export interface TrainingGraphOptions {
  readonly threads: number;
  /** Worth its memory if all batches have one shape. */
  readonly memoryPattern: boolean;
  readonly idleMs: number;
  /** Null: all weights are passed as inputs. */
  readonly frozen: FrozenBase | null;
}

export function createTrainingGraphRunner(config: DecoderConfig, options: TrainingGraphOptions): TrainingGraphRunner {
  const { threads, memoryPattern, frozen } = options;
  let compiled: { readonly key: string; readonly session: Session } | null = null;
  let last: Promise<unknown> = Promise.resolve();
  let resting: NodeJS.Timeout | undefined;

  function oneAtATime<T>(work: () => Promise<T>): Promise<T> {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  }

  async function close(): Promise<void> {
    const closing = compiled;
    compiled = null;
    await closing?.session.close();
  }

  async function compile(trained: TrainedPart, loss: LossProgram | null, activations: Activations): Promise<Session> {
    // The whole program, not only its name: constants are part of what is compiled.
    const shape = trained && [trained.rank, trained.alpha, trained.rankStabilized, trained.targets];
    const key = JSON.stringify([shape, loss, activations]);
    if (compiled?.key !== key) {
      await close(); // first, so that two graphs never hold buffers at once
      await frozen?.weights.ensure();
      const graph = buildTrainGraph(config, trained, loss, activations, frozen);
      const settings = { threads, memoryPattern, packsConstants: false, spinsMicroseconds: SPINS_MICROSECONDS };
      compiled = { key, session: await openSession(graph, settings) };
    }
    return compiled.session;
  }

  return {
    run(trained, loss, activations, feeds) {
      clearTimeout(resting);
      return oneAtATime(async () => (await compile(trained, loss, activations)).run(feeds));
    },
    async rest() {
      clearTimeout(resting);
      if (options.idleMs === 0) await oneAtATime(close);
      else resting = setTimeout(() => void oneAtATime(close).catch(() => {}), options.idleMs).unref();
    },
    close() {
      clearTimeout(resting);
      return oneAtATime(close);
    },
  };
}
