// A trainer whose mathematics is a hash: the weights after a step follow from the weights before it, the rows, the loss and the rate, so two
// adapters are equal exactly if they were trained by the same steps from the same start. Its process can be killed at any verb, and takes a
// moment to start again. Keeps the promises of engine/training-engine.ts, and writes files like a real one.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { EngineLost } from '#engine/engine-lost';
import type { LossProgram } from '#engine/loss-program';
import type { TrainingEngine, TrainingRow, TrainingSession } from '#engine/training-engine';
import { filesPromises } from './faulty-files.ts';
import type { Scheduler } from './scheduler.ts';

export const ADAPTER_FILE = 'adapter_model.safetensors';
const CONFIG_FILE = 'adapter_config.json';
const OPTIMIZER_FILE = 'optimizer.safetensors';
const CONFIG = JSON.stringify({ r: 8, lora_alpha: 16, target_modules: ['q_proj', 'v_proj'] });

const ROW_LENGTH_MAX = 512;
const RESTART_MS_MAX = 4_000;

export interface ScriptedTrainer extends TrainingEngine {
  /** Its process ends; sessions are lost. */
  kill(): void;
}

type Digest = Buffer;
const hash = (...parts: readonly (string | Uint8Array)[]): Digest => {
  const digest = createHash('sha256');
  for (const part of parts) digest.update(part);
  return digest.digest();
};
const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView) => new Uint8Array(buffer, byteOffset, byteLength);

/** An error of the disk is no proof that there is no file. */
const readIfThere = (path: string): Promise<Digest | null> =>
  filesPromises.readFile(path).then(
    (content) => content as Digest,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    },
  );

/** `verbMsMax`: how long a verb takes at most. `onVerb`: called before each verb of a session happens. */
export function createScriptedTrainer(scheduler: Scheduler, verbMsMax: number, onVerb: () => void): ScriptedTrainer {
  let life = 0;
  let readyAtMs = 0;
  let open = 0;

  const duration = () => scheduler.random.next() * verbMsMax;
  const lost = () => new EngineLost('training', { how: 'was killed by SIGKILL', byOthers: true });

  return {
    limits: {
      contextLength: ROW_LENGTH_MAX,
      rowLengthMax: ROW_LENGTH_MAX,
      memory: { fixedBytes: 0, bytesPerToken: 1, bytesPerPair: 0, budgetBytes: 1e9 },
    },
    status: () => ({
      ready: scheduler.now() >= readyAtMs,
      busy: open > 0,
      sessionsMax: 1,
      restarts: life,
      lastFailure: null,
    }),
    close: async () => {},
    kill() {
      life++;
      open = 0;
      readyAtMs = scheduler.now() + scheduler.random.next() * RESTART_MS_MAX;
    },
    async open({ from, resetOptimizer }, signal) {
      await scheduler.wait('engine open', Math.max(0, readyAtMs - scheduler.now()) + duration(), () => undefined);
      signal.throwIfAborted();
      const born = life;
      let weights: Digest =
        from === null ? hash('fresh') : ((await filesPromises.readFile(join(from, ADAPTER_FILE))) as Buffer);
      let moments: Digest = hash('zero');
      if (from !== null && !resetOptimizer) {
        moments = (await readIfThere(join(from, OPTIMIZER_FILE))) ?? moments;
      }
      if (born !== life) throw lost();
      let gradients: Digest[] = [];
      open++;

      const verb = <T>(name: string, compute: () => T): Promise<T> =>
        scheduler.wait(`engine ${name}`, duration(), () => {
          if (born !== life) throw lost();
          onVerb();
          return compute();
        });
      const rowHash = (row: TrainingRow, about: string): Digest =>
        hash(
          about,
          weights,
          bytesOf(row.tokens),
          bytesOf(row.segments),
          bytesOf(row.targets),
          ...Object.entries(row.inputs)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .flatMap(([name, values]) => [name, bytesOf(values)]),
        );
      const logprobsOf = (row: TrainingRow): Float32Array => {
        const digest = hash('logprobs', weights, bytesOf(row.tokens));
        return Float32Array.from(row.targets, (target, i) => -(((digest[i % digest.length]! + target) % 256) + 1) / 64);
      };

      const session: TrainingSession = {
        rowsAtOnce: 1,
        logprobs: (rows) => verb('logprobs', () => rows.map(logprobsOf)),
        forwardBackward: (rows, loss: LossProgram) =>
          verb('forwardBackward', () =>
            rows.map((row) => {
              const gradient = rowHash(row, JSON.stringify(loss));
              gradients.push(gradient);
              return { loss: gradient.readUInt16LE(0) / 65_536, metrics: {}, logprobs: logprobsOf(row) };
            }),
          ),
        optimStep: (params) =>
          verb('optimStep', () => {
            const gradient = hash(...gradients.map((each) => each.toString('hex')).sort());
            gradients = [];
            moments = hash('moments', moments, gradient);
            weights = hash('weights', weights, moments, JSON.stringify(params));
            return { gradNorm: moments.readUInt16LE(0) / 1_000 };
          }),
        async save(directory, { resumable }) {
          const [w, m] = await verb('save', () => [weights, moments] as const);
          await filesPromises.writeFile(join(directory, CONFIG_FILE), CONFIG);
          await filesPromises.writeFile(join(directory, ADAPTER_FILE), w);
          if (resumable) await filesPromises.writeFile(join(directory, OPTIMIZER_FILE), m);
          if (born !== life) throw lost();
        },
        async close() {
          if (born === life) open--;
        },
      };
      return session;
    },
  };
}

/** The files of an untrained adapter. */
export async function writeFreshAdapter(directory: string): Promise<void> {
  await filesPromises.mkdir(directory, { recursive: true });
  await filesPromises.writeFile(join(directory, CONFIG_FILE), CONFIG);
  await filesPromises.writeFile(join(directory, ADAPTER_FILE), hash('fresh'));
}
