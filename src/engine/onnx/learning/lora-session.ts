// A training session on one adapter: log-probabilities, gradients, update, save. Owns the adapter, its optimizer and the
// gradients not yet applied; the engine owns the base weights and the compiled graphs.
import { AppError } from '#domain/errors';
import { storageFault } from '#domain/storage-fault';
import { invariant } from '#base/invariant';
import { HEAD_MODULE } from '#model-files/decoder-parameters';
import { loraParameters, type LinearLayer, type LoraAdapter } from '#model-files/lora';
import { writePeftDirectory } from '#model-files/peft-directory';
import type { AdapterSize, TrainingRow, TrainingSession } from '../../training-engine.ts';
import {
  applyAdamw,
  clipCoefficient,
  createAdamwState,
  globalNorm,
  type AdamwState,
  type NamedTensors,
} from './adamw.ts';
import { checkRow, type RowLimits } from './check-row.ts';
import { createGradientSums } from './gradient-sums.ts';
import { writeGradientsFile, writeOptimizerFile } from './optimizer-file.ts';
import { headChunk, lossFeeds, rowFeeds, type Feeds } from './train-feeds.ts';
import type { Activations } from './train-graph.ts';
import type { TrainingGraphRunner } from './training-graph-runner.ts';

/** What the engine provides to a session. */
export interface LoraSessionBase {
  readonly layers: readonly LinearLayer[];
  readonly limits: RowLimits;
  readonly graphs: TrainingGraphRunner;
  readonly activationsFor: (tokens: number, adapter: AdapterSize) => Activations;
  /** Written into adapter_config.json. */
  readonly baseModelName: string;
}

/** What a session goes on from; null: it begins. */
export interface ResumedTraining {
  readonly optimizer: AdamwState | null;
  readonly gradients: NamedTensors | null;
}

export function createLoraSession(
  base: LoraSessionBase,
  adapter: LoraAdapter,
  headTokensMax: number | null,
  resumed: ResumedTraining,
  onClose: () => void,
): TrainingSession {
  const { layers, limits, graphs } = base;
  const parameters = loraParameters(layers, adapter);
  const optimizer = resumed.optimizer ?? createAdamwState(adapter.tensors);
  const sums = createGradientSums(adapter.tensors, resumed.gradients);
  const feeds: Feeds = Object.fromEntries(
    parameters.map(({ name, shape }) => [name, { data: adapter.tensors.get(name)!, dims: shape }]),
  );
  const size: AdapterSize = { rank: adapter.rank, onHead: adapter.targets.includes(HEAD_MODULE) };
  const chunk = headChunk(limits.vocab, headTokensMax);
  let open = true;
  const checkOpen = () => invariant(open, 'this training session is closed');
  function check(rows: readonly TrainingRow[]): void {
    checkOpen();
    for (const row of rows) checkRow(row, limits);
  }

  return {
    rowsAtOnce: 1,

    async logprobs(rows) {
      check(rows);
      return inOrder(rows, async (row) => {
        if (row.targets.length === 0) return new Float32Array(0);
        return (await graphs.run(adapter, null, 'kept', { ...rowFeeds([row], chunk), ...feeds }))['logprobs']!;
      });
    },

    async forwardBackward(rows, loss) {
      check(rows);
      const ownFeeds = rows.map((row) => lossFeeds([row], loss)); // throws if the inputs do not fit the row
      return inOrder(rows, async (row, r) => {
        if (row.targets.length === 0) {
          const metrics = Object.fromEntries(Object.keys(loss.metrics).map((name) => [name, 0]));
          return { loss: 0, metrics, logprobs: new Float32Array(0) };
        }
        const activations = base.activationsFor(row.tokens.length, size);
        const rowAndWeights = { ...rowFeeds([row], chunk), ...ownFeeds[r]!, ...feeds };
        return sums.add(await graphs.run(adapter, loss, activations, rowAndWeights), loss);
      });
    },

    async optimStep(params) {
      checkOpen();
      const gradNorm = globalNorm(sums.gradients);
      if (!Number.isFinite(gradNorm)) {
        sums.clear();
        throw new AppError(
          'engine_failed',
          `The gradient norm is ${gradNorm}: the update was not applied. Lower the learning rate, or look for log-probabilities or rewards that are not finite.`,
        );
      }
      applyAdamw(adapter.tensors, sums.gradients, optimizer, params, clipCoefficient(gradNorm, params.maxGradNorm));
      sums.clear();
      requireFinite(adapter, `after an update with learning rate ${params.learningRate}, which is far too large`);
      return { gradNorm };
    },

    async save(directory, { resumable, gradients = false }) {
      checkOpen();
      requireFinite(adapter, 'and are not saved');
      try {
        if (gradients) await writeGradientsFile(directory, sums.gradients, parameters);
        if (resumable) await writeOptimizerFile(directory, optimizer, parameters);
        await writePeftDirectory(directory, adapter, layers, base.baseModelName);
      } catch (error) {
        throw storageFault(error) ?? error;
      }
    },

    async close() {
      if (!open) return;
      open = false;
      await graphs.rest().finally(onClose);
    },
  };
}

async function inOrder<T>(
  rows: readonly TrainingRow[],
  compute: (row: TrainingRow, index: number) => Promise<T>,
): Promise<T[]> {
  const results: T[] = [];
  for (const [index, row] of rows.entries()) results.push(await compute(row, index));
  return results;
}

function requireFinite({ tensors }: LoraAdapter, circumstances: string): void {
  for (const [name, tensor] of tensors) {
    if (!tensor.every(Number.isFinite)) {
      throw new AppError('engine_failed', `The adapter's weights are not finite (${name}) ${circumstances}.`);
    }
  }
}
