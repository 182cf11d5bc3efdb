// What every TrainingEngine must do, depending on its capabilities. Run by the embedded engine in this process and in a child
// process, on a tiny random model. The reference for log-probabilities is the plain forward pass of the golden logits.
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type {
  ForwardBackwardResult,
  OpenSessionOptions,
  TrainingEngine,
  TrainingSession,
} from '#engine/training-engine';
import { readDecoderConfig } from '#model-files/decoder-config';
import { aSession } from '../learning/a-session.ts';
import { openServingForward } from '../golden/serving-forward.ts';
import { sharedPromptRow } from '../learning/packed-row.ts';
import { plainRow } from '../learning/tiny-decoders.ts';
import { writeTinyModel, type TinyModel } from '../serving/tiny-model.ts';
import { randomPrompt } from './inference-engine.ts';
import { expectKeptGradients } from './kept-gradients.ts';
import { createNeeding } from './needing.ts';
import {
  ADAMW,
  crossEntropy,
  gradNormOf,
  logprobOf,
  LORA,
  NO_TARGETS,
  OTHER_ROW,
  ROW,
  ROW_LENGTH_MAX,
  scaled,
  sum,
  REFUSED_ROWS,
  TOO_MANY_TOKENS,
  train,
  weighted,
} from './training-cases.ts';
import type { TrainingUnderTest } from './training-under-test.ts';
import { rowLogprobs, trainRow } from '../learning/one-row.ts';

const never = new AbortController().signal;

export function trainingEngineContract(name: string, underTest: TrainingUnderTest): void {
  const { capabilities, isBounded, writeComputed = (directory) => Promise.resolve(directory), open } = underTest;
  describe(`${name} keeps the training engine contract`, () => {
    const needing = createNeeding(name);
    const whereReplayed = needing('exactTraining', capabilities.exactTraining);
    let model: TinyModel;
    let scratch: string;
    let engine: TrainingEngine;
    let session: TrainingSession | undefined;
    let directories = 0;

    const openEngine = () => open({ modelDirectory: model.directory, rowLengthMax: ROW_LENGTH_MAX, threads: 1 });
    beforeAll(async () => {
      model = await writeTinyModel();
      scratch = await mkdtemp(join(tmpdir(), 'whetstone-training-contract-'));
      engine = await openEngine();
    });
    afterEach(() => endSession());
    afterAll(async () => {
      await engine.close();
      await model.remove();
      await rm(scratch, { recursive: true });
    });

    async function endSession(): Promise<void> {
      const ending = session;
      session = undefined;
      await ending?.close();
    }

    async function start(options: Partial<OpenSessionOptions> = {}): Promise<TrainingSession> {
      await endSession();
      session = await engine.open(aSession({ lora: LORA, ...options }), never);
      return session;
    }

    async function newDirectory(): Promise<string> {
      const directory = join(scratch, String(directories++));
      await mkdir(directory);
      return directory;
    }

    async function save(target: TrainingSession, resumable = true) {
      const directory = await newDirectory();
      await target.save(directory, { resumable });
      const names = (await readdir(directory)).sort();
      const files = await Promise.all(names.map((file) => readFile(join(directory, file))));
      return { directory, files: Object.fromEntries(names.map((file, i) => [file, files[i]!])) };
    }

    test('a fresh adapter changes nothing: log-probabilities are those of the base model', async () => {
      const computed = await writeComputed(model.directory);
      const reference = await openServingForward(await readDecoderConfig(computed), computed);
      const [logits] = await reference.logits([Array.from(ROW.tokens)], null);
      await reference.close();
      const expected = Array.from(ROW.targets, (target, i) =>
        logprobOf(logits!.subarray(i * 260, (i + 1) * 260), target),
      );
      const logprobs = await rowLogprobs(await start(), ROW);
      expect(logprobs).toBeInstanceOf(Float32Array);
      expect(logprobs).toHaveLength(expected.length);
      logprobs.forEach((logprob, i) => expect(Math.abs(logprob - expected[i]!)).toBeLessThan(1e-4));
      expect(await rowLogprobs(await start({ lora: { rank: 2, alpha: 1, seed: 9 } }), ROW)).toEqual(logprobs);
    });

    test('training lowers the loss, and the log-probabilities show what was learnt', async () => {
      const target = await start();
      const before = await rowLogprobs(target, ROW);
      const losses = await train(target, 20);
      expect(losses.at(-2)!).toBeLessThan(losses[0]! - 0.2);
      expect(sum(await rowLogprobs(target, ROW))).toBeGreaterThan(sum(before));
    });

    test('the loss is minus the mean of the log-probabilities, the metric that of its own term', async () => {
      const target = await start();
      const logprobs = await rowLogprobs(target, ROW);
      const { loss, metrics, logprobs: read } = await trainRow(target, ROW, crossEntropy);
      for (const each of [logprobs, read!]) expect(loss).toBeCloseTo(-sum(each) / logprobs.length, 4);
      expect(metrics['entropy']!).toBeGreaterThan(0);
      expect(metrics['entropy']!).toBeLessThan(Math.log(260) + 1e-5);
    });

    needing('sharedPrefixRows', capabilities.sharedPrefixRows)(
      'completions of one stored prompt have the log-probabilities that each has alone',
      async () => {
        const prompt = randomPrompt(10, 4);
        const completions = [randomPrompt(6, 5), randomPrompt(9, 6)];
        const target = await start();
        const together = await rowLogprobs(target, sharedPromptRow(prompt, completions));
        const alone: number[] = [];
        for (const completion of completions) {
          alone.push(...(await rowLogprobs(target, plainRow([...prompt, ...completion], {}))).slice(prompt.length - 1));
        }
        expect(together).toHaveLength(alone.length);
        together.forEach((logprob, i) => expect(Math.abs(logprob - alone[i]!)).toBeLessThan(1e-5));
      },
    );

    whereReplayed('the same work from the same seed makes the same bytes; another seed makes others', async () => {
      const runs = [];
      for (const seed of [3, 3, 4]) {
        const target = await start({ lora: { ...LORA, seed } });
        const losses = await train(target, 3);
        runs.push({ losses, files: (await save(target)).files });
      }
      expect(runs[0]).toEqual(runs[1]);
      expect(runs[0]!.files['adapter_model.safetensors']).not.toEqual(runs[2]!.files['adapter_model.safetensors']);
    });

    whereReplayed(
      'a session that resumes from a directory ends in the same bytes as one that never stopped',
      async () => {
        const straight = await start();
        await train(straight, 4);
        const { files } = await save(straight);

        const first = await start();
        await train(first, 2);
        const { directory } = await save(first);
        const second = await start({ from: directory });
        await train(second, 2);
        expect((await save(second)).files).toEqual(files);
      },
    );

    test('a saved state that is opened and saved again has the same bytes, whatever is computed in between', async () => {
      const target = await start();
      await train(target, 2);
      const { directory, files } = await save(target);
      expect((await save(await start({ from: directory, lora: { rank: 16, alpha: 1, seed: 99 } }))).files).toEqual(
        files,
      );
    });

    whereReplayed('saving changes nothing: the session goes on as if it had not', async () => {
      const plain = await start();
      await train(plain, 2);
      const expected = (await save(plain)).files;
      const target = await start();
      await train(target, 1);
      await trainRow(target, OTHER_ROW, crossEntropy);
      await save(target); // gradients not yet applied are not lost
      await target.optimStep(ADAMW);
      expect((await save(target)).files).toEqual(expected);
    });

    needing('keepsGradients', capabilities.keepsGradients)(
      'gradients that no step has applied are saved, and a session that goes on from them steps as one that never stopped',
      () => expectKeptGradients({ start, save, newDirectory }, capabilities.exactTraining),
    );

    test('resetOptimizer keeps the weights and forgets the moments', async () => {
      const target = await start();
      await train(target, 2);
      const { directory, files } = await save(target);
      const reset = await start({ from: directory, resetOptimizer: true });
      const before = (await save(reset)).files;
      expect(before['adapter_model.safetensors']).toEqual(files['adapter_model.safetensors']);
      expect(before['optimizer.safetensors']).not.toEqual(files['optimizer.safetensors']);
      await train(reset, 1);
      const goneOn = await start({ from: directory });
      await train(goneOn, 1);
      const moved = (await save(goneOn)).files['adapter_model.safetensors'];
      expect(moved).not.toEqual(files['adapter_model.safetensors']);
      const fresh = await start({ from: directory, resetOptimizer: true });
      await train(fresh, 1);
      expect((await save(fresh)).files['adapter_model.safetensors']).not.toEqual(moved);
    });

    test('without resumable only the PEFT files are written; opening them starts with fresh moments', async () => {
      const target = await start();
      await train(target, 2);
      const resumable = await save(target);
      const served = await save(target, false);
      expect(Object.keys(served.files)).toEqual(['adapter_config.json', 'adapter_model.safetensors']);
      expect(served.files['adapter_model.safetensors']).toEqual(resumable.files['adapter_model.safetensors']);
      const fresh = await start({ from: resumable.directory, resetOptimizer: true });
      const expected = (await save(fresh)).files;
      expect((await save(await start({ from: served.directory }))).files).toEqual(expected);
    });

    test('gradients of rows add up until the step, which clears them', async () => {
      const target = await start();
      const once = await gradNormOf(target, [ROW]);
      expect(once).toBeGreaterThan(0);
      expect((await gradNormOf(target, [ROW, ROW])) / once).toBeCloseTo(2, 5);
      expect(await gradNormOf(target, [ROW])).toBe(once);
      expect(await gradNormOf(target, [OTHER_ROW])).not.toBe(once);
      expect(await gradNormOf(target, [])).toBe(0);
    });

    test('several rows of one call return the same as one after the other, in their order', async () => {
      const rows = [OTHER_ROW, { ...ROW, ...NO_TARGETS }, ROW, plainRow(randomPrompt(21, 8), {})];
      const apart = await start();
      const expected: (ForwardBackwardResult & { readonly said: Float32Array })[] = [];
      for (const row of rows)
        expected.push({ said: await rowLogprobs(apart, row), ...(await trainRow(apart, row, crossEntropy)) });
      const { gradNorm } = await apart.optimStep(ADAMW);
      const { files } = await save(apart);
      const together = await start();
      const said = await together.logprobs(rows);
      const results = await together.forwardBackward(rows, crossEntropy);
      const found = results.map((result, r) => ({ said: said[r]!, ...result }));
      expect(found.map(({ said: of }) => of.length)).toEqual(rows.map(({ targets }) => targets.length));
      const norm = (await together.optimStep(ADAMW)).gradNorm;
      if (together.rowsAtOnce === 1 && capabilities.exactTraining) {
        expect({ found, norm, files: (await save(together)).files }).toEqual({
          found: expected,
          norm: gradNorm,
          files,
        });
      }
      found.forEach(({ said: ofRow, loss }, r) => {
        ofRow.forEach((logprob, t) => expect(Math.abs(logprob / expected[r]!.said[t]! - 1)).toBeLessThan(1e-6));
        expect(loss).toBeCloseTo(expected[r]!.loss, 6);
      });
      expect(Math.abs(norm / gradNorm - 1)).toBeLessThan(1e-6);
    });

    test('log-probabilities ask for no gradient', async () => {
      const target = await start();
      await rowLogprobs(target, ROW);
      expect(await gradNormOf(target, [])).toBe(0);
    });

    test('a row without targets has no loss and no gradient', async () => {
      const target = await start();
      const row = { ...ROW, ...NO_TARGETS };
      expect(await trainRow(target, row, crossEntropy)).toMatchObject({ loss: 0, metrics: { entropy: 0 } });
      expect(await rowLogprobs(target, row)).toEqual(new Float32Array(0));
      expect((await target.optimStep(ADAMW)).gradNorm).toBe(0);
    });

    test('programs of one name and different constants are different programs', async () => {
      const target = await start();
      const { loss } = await trainRow(target, ROW, scaled(1));
      expect((await trainRow(target, ROW, scaled(3))).loss / loss).toBeCloseTo(3, 5);
    });

    test('gradients that are not finite are refused, forgotten, and do not touch the adapter', async () => {
      const target = await start();
      const before = (await save(target)).files;
      const weights = new Float32Array(ROW.targets.length).fill(NaN);
      await trainRow(target, { ...ROW, inputs: { weights } }, weighted);
      await expect(target.optimStep(ADAMW)).rejects.toMatchObject({ code: 'engine_failed' });
      expect((await save(target)).files).toEqual(before);
      expect(await gradNormOf(target, [])).toBe(0);
    });

    test('weights that are not finite fail the update that made them, and are not saved', async () => {
      const target = await start();
      await trainRow(target, ROW, crossEntropy);
      const update = target.optimStep({ ...ADAMW, learningRate: 1e40 });
      await expect(update).rejects.toMatchObject({
        code: 'engine_failed',
        message: expect.stringMatching(/not finite.*1e\+40/) as string,
      });
      await expect(save(target)).rejects.toMatchObject({
        code: 'engine_failed',
        message: expect.stringMatching(/not finite/) as string,
      });
    });

    test.each(isBounded === false ? REFUSED_ROWS : [...REFUSED_ROWS, TOO_MANY_TOKENS])(
      'a row with %s is refused with the other rows of its call, and the session continues',
      async (_, row) => {
        const target = await start();
        const once = await gradNormOf(target, [ROW]);
        const rows = [...Array.from({ length: target.rowsAtOnce - 1 }, () => OTHER_ROW), row];
        await expect(target.logprobs(rows)).rejects.toMatchObject({ code: 'invalid_request' });
        await expect(target.forwardBackward(rows, crossEntropy)).rejects.toMatchObject({ code: 'invalid_request' });
        expect(await gradNormOf(target, [ROW])).toBe(once);
      },
    );

    test('a row without the inputs of its loss is refused by their name', async () => {
      const target = await start();
      const weights = new Float32Array(ROW.targets.length - 1);
      for (const inputs of [{}, { weights }]) {
        await expect(trainRow(target, { ...ROW, inputs }, weighted)).rejects.toMatchObject({
          code: 'invalid_request',
          message: expect.stringContaining('weights') as string,
        });
      }
    });

    needing('a row length that a test can choose', isBounded !== false)('the longest row fits', async () => {
      expect(engine.limits.rowLengthMax).toBe(ROW_LENGTH_MAX);
      const row = plainRow(randomPrompt(ROW_LENGTH_MAX, 7), {});
      expect((await trainRow(await start(), row, crossEntropy)).loss).toBeGreaterThan(0);
    });

    test('one session at a time; closing it makes room', async () => {
      expect(engine.status()).toMatchObject({ ready: true, busy: false });
      const target = await start();
      expect(engine.status()).toMatchObject({ ready: true, busy: true });
      await expect(engine.open(aSession({ lora: LORA }), never)).rejects.toMatchObject({
        code: 'engine_unavailable',
      });
      expect(await rowLogprobs(target, OTHER_ROW)).toHaveLength(OTHER_ROW.targets.length);
      await endSession();
      expect(engine.status().busy).toBe(false);
      await start();
    });

    test('closing a session twice is closing it once, and leaves the next one open', async () => {
      const target = await start();
      await endSession();
      await target.close();
      const next = await start();
      await target.close();
      expect(engine.status().busy).toBe(true);
      expect(await rowLogprobs(next, OTHER_ROW)).toHaveLength(OTHER_ROW.targets.length);
    });

    test('a session that was closed does nothing more', async () => {
      const target = await start();
      await endSession();
      await expect(rowLogprobs(target, ROW)).rejects.toThrow();
      await expect(target.optimStep(ADAMW)).rejects.toThrow();
    });

    test('gradients of a session end with it', async () => {
      const target = await start();
      await trainRow(target, ROW, crossEntropy);
      expect(await gradNormOf(await start(), [])).toBe(0);
    });

    test('an opening that fails or is cancelled leaves room for the next', async () => {
      const missing = engine.open(aSession({ from: join(scratch, 'nowhere'), lora: LORA }), never);
      await expect(missing).rejects.toMatchObject({ code: 'bad_model_files' });
      const before = engine.open(aSession({ lora: LORA }), AbortSignal.abort());
      await expect(before).rejects.toMatchObject({ code: 'cancelled' });
      expect(engine.status().busy).toBe(false);
      await start();
    });

    test('an adapter of another model is refused', async () => {
      const other = await writeTinyModel('llama');
      const { directory } = await other.writeAdapter('misfit', { seed: 1 });
      const opening = engine.open(aSession({ from: directory, lora: LORA }), never);
      await expect(opening).rejects.toMatchObject({ code: 'bad_model_files' });
      await other.remove();
    });

    test('an engine that was closed opens no session', async () => {
      const closing = await openEngine();
      await closing.close();
      await closing.close();
      expect(closing.status().ready).toBe(false);
      const opening = closing.open(aSession({ lora: LORA }), never);
      await expect(opening).rejects.toMatchObject({ code: 'engine_unavailable' });
    });
  });
}
