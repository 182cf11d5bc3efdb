// The initial optimizer of a job: the moments that the model's previous RL jobs left, or zero.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runUntilEnd } from '../../support/crash/dying-runner.ts';
import { BODY, IMITATION, PREFERENCE, type JobData } from '../../support/crash/job-bodies.ts';
import { openJobLab, OWNER, submit, type JobLab, type World } from '../../support/crash/job-lab.ts';

let lab: JobLab;
beforeAll(async () => {
  lab = await openJobLab();
});
afterAll(() => lab.close());

test.each<{ readonly before: string; readonly bodies: readonly JobData[]; readonly goesOn: boolean }>([
  { before: 'RL', bodies: [BODY], goesOn: true },
  { before: 'SFT', bodies: [BODY, IMITATION], goesOn: false },
  { before: 'DPO', bodies: [BODY, PREFERENCE], goesOn: false },
])('an RL job after $before continues with its optimizer: $goesOn', async ({ bodies, goesOn }) => {
  const world = await lab.createWorld();
  for (const body of bodies) await train(world, body);
  const before = await countedSteps(world);
  await train(world, BODY);
  const own = await gradientSteps(world);
  expect([before, own].every((steps) => steps > 0)).toBe(true);
  expect(await countedSteps(world)).toBe(goesOn ? before + own : own);
});

async function train(world: World, body: JobData): Promise<void> {
  const job = await submit(world, body);
  await runUntilEnd(lab, world, job.id);
  expect(await world.jobs.get(OWNER, job.id)).toMatchObject({ status: 'succeeded', errorMessage: null });
}

/** For the latest job. */
async function gradientSteps({ storage, modelId }: World): Promise<number> {
  const [job] = await storage.jobs.listLatest([modelId]);
  const { rows } = await storage.events.list(job!.id, { after: null, limit: 100 });
  return rows.filter(({ type }) => type === 'gradient_step').length;
}

/** From the latest checkpoint's optimizer, in the tensor `step` of its file. */
async function countedSteps({ storage, blobs, modelId }: World): Promise<number> {
  const { blobPrefix } = (await storage.checkpoints.findLatest(modelId))!;
  const file = Buffer.from((await blobs.find(`${blobPrefix}/optimizer.safetensors`))!);
  const headerBytes = Number(file.readBigUInt64LE(0));
  const header = JSON.parse(file.toString('utf8', 8, 8 + headerBytes)) as { step: { data_offsets: [number, number] } };
  return file.readFloatLE(8 + headerBytes + header.step.data_offsets[0]);
}
