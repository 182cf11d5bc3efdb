// Training runs of the Tinker protocol on a whole server that is killed and restarted: acknowledged operations persist, repeated
// requests run once, and the results equal those without kills. Also: a run of its verbs ends with the adapter of the SFT job
// over the same rows.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pushArtifact } from '#client/artifact-files';
import { createServerProcess, type ServerProcess } from '../../support/crash/server-process.ts';
import { sftJob } from '../../support/golden/sft-rows.ts';
import { adapterDistance, adapterOfModel, adapterOfRun, digestOfRun } from '../../support/clients/run-adapter.ts';
import { openTinkerClient, type TinkerClient, type WeightedDatum } from '../../support/clients/tinker-client.ts';

/** A server starts several times, possibly on busy machines. */
const PATIENT = { timeout: 600_000 };

let data: string;
let server: ServerProcess;
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'whetstone-tinker-'));
  server = await createServerProcess(join(data, 'store'));
  await server.start();
});
afterAll(async () => {
  await server.kill('server').catch(() => {});
  await rm(data, { recursive: true, force: true });
});

const ADAM = { learning_rate: 1e-2 };
const BATCHES = [40, 41, 42, 43].map((first): WeightedDatum[] => {
  const tokens = Array.from({ length: 12 }, (_, i) => first + i);
  return [{ tokens, targets: tokens.map((token) => token + 1), weights: tokens.map((_, i) => i % 3) }];
});

/** Four steps of two batches each; `between` runs after every acknowledged operation. */
async function trainOn(client: TinkerClient, between: (acknowledged: number) => Promise<unknown>) {
  const run = await client.train(4, 7);
  const told: number[] = [];
  const note = async (result: number) => {
    told.push(result);
    await between(told.length);
  };
  for (let step = 0; step < 4; step++) {
    await note(await run.forwardBackward(BATCHES[step]!));
    await note(await run.forwardBackward(BATCHES[(step + 1) % 4]!));
    await note(await run.optimStep(ADAM));
  }
  await run.saveState('end');
  return { run, told, adapter: await digestOfRun(server.client, run.id, 1) };
}

test(
  'kills of server, trainer and sampler between any two answers change neither losses nor the adapter',
  PATIENT,
  async () => {
    const client = await openTinkerClient(server.url, server.apiKey);
    const calm = await trainOn(client, async () => {});
    expect(new Set(calm.told).size).toBe(12);
    const disturbed = await trainOn(client, async (acknowledged) => {
      if (acknowledged === 3 || acknowledged === 7) {
        await server.kill('server'); // after a step; between the two parts of another
        await server.start();
      }
      if (acknowledged === 5) await server.kill('training');
      if (acknowledged === 9) await server.kill('inference');
    });
    expect(disturbed.told).toEqual(calm.told);
    expect(disturbed.adapter).toBe(calm.adapter);
  },
);

test(
  'a step that is sent again, before and after the server was killed, is made once and answered the same',
  PATIENT,
  async () => {
    const client = await openTinkerClient(server.url, server.apiKey);
    const [run, once] = [await client.train(4, 9), await client.train(4, 9)];
    await run.forwardBackward(BATCHES[0]!);
    const grad_norm = await run.optimStep(ADAM);
    const again = { model_id: run.id, seq_id: 2, adam_params: ADAM };
    const future = { request_id: `${run.id}/2` };
    for (const kills of [false, true]) {
      if (kills) {
        await server.kill('server');
        await server.start();
      }
      expect(await (await client.post('optim_step', again)).json()).toMatchObject(future);
      expect(await (await client.post('retrieve_future', future)).json()).toEqual({ metrics: { grad_norm } });
    }
    await once.forwardBackward(BATCHES[0]!);
    await once.optimStep(ADAM);
    expect(await run.forwardBackward(BATCHES[1]!)).toBe(await once.forwardBackward(BATCHES[1]!));
  },
);

/**
 * The same data, in the formats of a Tinker training client and of an SFT job. Loss errors are relative: the sum of a loss has
 * other zeros in it than a job's, which omits tokens without labels.
 */
const WAYS = [
  // The rows of a step in one call are packed, as a job packs them.
  { way: 'with one call a step', name: 'packed', packing: true, head: false, distanceMax: 0, lossErrorMax: 1e-6 },
  // Each row in its own call is unpacked.
  { way: 'with a call for each row', name: 'alone', packing: false, head: false, distanceMax: 0, lossErrorMax: 1e-6 },
  // The head's own gradient is a sum over the tokens it predicts: here that includes tokens of weight 0, which change its
  // rounding; AdamW enlarges the difference from step to step, and with it that of the losses.
  {
    way: 'that trains the output head',
    name: 'head',
    packing: true,
    head: true,
    distanceMax: 1e-5,
    lossErrorMax: 1e-5,
  },
] as const;
const LAYERS = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'];
const LIKE_JOBS = { beta1: 0.9, beta2: 0.999, eps: 1e-8, weight_decay: 0.01, grad_clip_norm: 1 };
const EPOCHS = 2;

test.each(WAYS)(
  'a supervised run $way and an SFT job over the same rows end with the same adapter',
  PATIENT,
  async ({ name, packing, head, distanceMax, lossErrorMax }) => {
    const { rows, batchSize, learningRates, cases } = sftJob;
    const { tokens, labels } = cases.find(({ assistantTurns }) => assistantTurns === 'all')!;
    const client = await openTinkerClient(server.url, server.apiKey);
    const run = await client.train(4, 3, head);
    const rates = Array.from({ length: EPOCHS }, () => learningRates).flat();

    const losses: number[] = [];
    for (const [step, learning_rate] of rates.entries()) {
      const first = (step % learningRates.length) * batchSize;
      const members = tokens.map((_, i) => i).slice(first, first + batchSize);
      const count = members.reduce((sum, i) => sum + labels[i]!.length, 0);
      const data = members.map((i) => ({
        tokens: tokens[i]!.slice(0, -1),
        targets: tokens[i]!.slice(1),
        weights: tokens[i]!.slice(1).map((_, at) => (labels[i]!.includes(at + 1) ? 1 / count : 0)),
      }));
      const calls = packing ? [data] : data.map((datum) => [datum]);
      const sums = await Promise.all(calls.map((each) => run.forwardBackward(each)));
      await run.optimStep({ learning_rate, ...LIKE_JOBS });
      losses.push(sums.reduce((sum, loss) => sum + loss, 0));
    }
    await run.saveState('end');

    const lines = join(data, 'rows.jsonl');
    await writeFile(lines, rows.map((row) => JSON.stringify(row)).join('\n'));
    const { uri } = await pushArtifact(server.client, 'default/same/rows', lines);
    const model = await server.client.registerModel({
      project: 'same',
      name,
      base_model: 'whetstone/starter',
      lora: { r: 4, lora_alpha: 32, seed: 3, ...(head ? { target_modules: [...LAYERS, 'lm_head'] } : {}) },
    });
    const config = { batch_size: batchSize, learning_rate: rates, epochs: EPOCHS, packing };
    const job = await server.client.submitSftJob({ model_id: model.id, training_data_url: uri, config });
    const ofSteps: number[] = [];
    await server.client.follow(job.id, {
      deadlineMs: 600_000,
      onEvent: ({ type, data }) => void (type === 'gradient_step' && ofSteps.push(data['loss'] as number)),
    });

    expect(ofSteps).toHaveLength(rates.length);
    for (const [i, loss] of ofSteps.entries()) expect(Math.abs(losses[i]! / loss - 1)).toBeLessThan(lossErrorMax);
    const [began, ofVerbs] = await Promise.all([0, 1].map((step) => adapterOfRun(server.client, run.id, step)));
    const ofJob = await adapterOfModel(server.client, { project: 'same', name }, 1);
    expect(adapterDistance(ofVerbs!, began!)).toBeGreaterThan(0.1);
    expect(adapterDistance(ofVerbs!, ofJob)).toBeLessThanOrEqual(distanceMax);
  },
);
