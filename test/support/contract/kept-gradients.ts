// What a trainer must do that keeps gradients: a step whose rows were computed in several sessions is the step of one.
import { expect } from 'vitest';
import type { OpenSessionOptions, TrainingSession } from '#engine/training-engine';
import { trainRow } from '../learning/one-row.ts';
import { plainRow } from '../learning/tiny-decoders.ts';
import { randomPrompt } from './inference-engine.ts';
import { ADAMW, crossEntropy, OTHER_ROW, ROW, train } from './training-cases.ts';

interface Sessions {
  start(options?: Partial<OpenSessionOptions>): Promise<TrainingSession>;
  save(target: TrainingSession): Promise<{ readonly files: Readonly<Record<string, Uint8Array>> }>;
  newDirectory(): Promise<string>;
}

export async function expectKeptGradients(sessions: Sessions, isExact: boolean): Promise<void> {
  const rows = [ROW, OTHER_ROW, plainRow(randomPrompt(21, 8), {})];
  const straight = await sessions.start();
  await train(straight, 1);
  await straight.forwardBackward(rows, crossEntropy);
  const { gradNorm } = await straight.optimStep(ADAMW);
  const expected = (await sessions.save(straight)).files;

  let target = await sessions.start();
  await train(target, 1);
  for (const row of rows) {
    await trainRow(target, row, crossEntropy);
    const directory = await sessions.newDirectory();
    await target.save(directory, { resumable: true, gradients: true });
    target = await sessions.start({ from: directory });
  }
  const norm = (await target.optimStep(ADAMW)).gradNorm;
  const { files } = await sessions.save(target);
  expect(Object.keys(files)).toEqual(Object.keys(expected));
  if (isExact && target.rowsAtOnce === 1) expect({ norm, files }).toEqual({ norm: gradNorm, files: expected });
  expect(Math.abs(norm / gradNorm - 1)).toBeLessThan(1e-6);
}
