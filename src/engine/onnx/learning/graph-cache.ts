// Compiled training graphs by what they compute. Building one takes longer than running it, and jobs alternate between a
// few; the oldest unused one goes when there are too many.
import type { LossProgram } from '../../loss-program.ts';
import { openSession, type Session } from '../graph/session.ts';
import type { DecoderConfig } from '../models/config.ts';
import { buildTrainGraph, type TrainedPart } from './train-graph.ts';

/** RL's loss, SFT's, and log-probabilities. Each graph keeps the buffers of its longest row: gigabytes for large models. */
const GRAPHS_MAX = 3;

export interface GraphCache {
  /** `loss` null: log-probabilities only. */
  get(trained: TrainedPart, loss: LossProgram | null): Promise<Session>;
  close(): Promise<void>;
}

export interface GraphCacheOptions {
  readonly threads: number;
  /** Worth its memory when all batches have one shape. */
  readonly memoryPattern: boolean;
}

export function createGraphCache(config: DecoderConfig, options: GraphCacheOptions): GraphCache {
  const sessions = new Map<string, Promise<Session>>();
  return {
    async get(trained, loss) {
      // The whole program, not its name: constants are part of what is compiled.
      const shape = trained && [trained.rank, trained.alpha, trained.rankStabilized, trained.targets];
      const key = JSON.stringify([shape, loss]);
      const session = sessions.get(key) ?? openSession(buildTrainGraph(config, trained, loss), options);
      sessions.delete(key);
      sessions.set(key, session);
      session.catch(() => sessions.delete(key));
      const [oldest] = sessions;
      if (oldest && sessions.size > GRAPHS_MAX) {
        sessions.delete(oldest[0]);
        await (await oldest[1]).close();
      }
      return session;
    },
    async close() {
      const all = [...sessions.values()];
      sessions.clear();
      for (const session of all) await (await session).close();
    },
  };
}
