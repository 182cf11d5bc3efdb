// The files of large models, made from a small one: their content, when they are made again, and what is left after a failure.
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '#base/log';
import { readDecoderConfig, type DecoderConfig } from '#model-files/decoder-config';
import { openSafetensors, writeSafetensors } from '#model-files/safetensors';
import { createRecordingLog } from '../../../../test/support/serving/recording-log.ts';
import { writeTinyModel } from '../../../../test/support/serving/tiny-model.ts';
import type { ServingPrecision } from '../../capabilities.ts';
import { prepareSideBySide } from './prepare-weights.ts';
import { ensureWeightFile } from './weight-file.ts';
import { servingLayout, trainingLayout, type WeightSpec } from './weight-layout.ts';
import { openWeights, type Weights } from './weights.ts';

async function scratch(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'weights-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

async function openModel() {
  const model = await writeTinyModel();
  onTestFinished(() => model.remove());
  const config = await readDecoderConfig(model.directory);
  const directory = await scratch();
  const open = (layout: readonly WeightSpec[], inMemoryBytesMax = 0) =>
    openWeights({ modelDirectory: model.directory, layout, directory, inMemoryBytesMax });
  return { ...model, modelDirectory: model.directory, config, directory, open };
}

const namesOf = (layout: readonly WeightSpec[]) =>
  layout.flatMap(({ name, shape, encoding }) => encoding.specs(name, shape)).map(({ name }) => name);

/** A tensor's bytes, wherever they are. */
async function bytesOf(weights: Weights, name: string): Promise<Buffer> {
  const { data } = weights.get(name);
  if (!('path' in data)) return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  return (await readFile(data.path)).subarray(data.offset, data.offset + data.byteLength);
}

async function expectSame(a: Weights, b: Weights, names: readonly string[]): Promise<void> {
  for (const name of names) expect((await bytesOf(a, name)).equals(await bytesOf(b, name)), name).toBe(true);
}

test.each(['float32', 'int8', 'w8a8'] as const)(
  '%s: a file holds what memory would, each tensor on pages of its own',
  async (precision) => {
    const { config, open } = await openModel();
    const layout = servingLayout(config, precision);
    const [stored, inMemory] = [await open(layout), await open(layout, Infinity)];
    await expectSame(stored, inMemory, namesOf(layout));
    for (const name of namesOf(layout))
      expect(stored.get(name).data).toMatchObject({ offset: expect.any(Number) as number });
    const offsets = namesOf(layout).map((name) => (stored.get(name).data as { offset: number }).offset);
    expect(offsets.every((offset) => offset % 4096 === 0)).toBe(true);
  },
);

test('projections of one input lie one after another', async () => {
  const { config, modelDirectory, open } = await openModel();
  const weights = await open(trainingLayout(config));
  const source = await openSafetensors(modelDirectory);
  const { parts } = trainingLayout(config).find(({ name }) => name === 'model.layers.1.qkv.weight')!;
  const rows = await Promise.all(parts.map(({ name }) => source.read(name)));
  await source.close();
  expect(rows).toHaveLength(3);
  const expected = Buffer.concat(rows.map((data) => Buffer.from(data.buffer)));
  expect((await bytesOf(weights, 'model.layers.1.qkv.weight')).equals(expected)).toBe(true);
});

test('the sampler in float32 and the trainer read one file, which is made once; rounded weights are another', async () => {
  const { config, directory, open } = await openModel();
  await open(trainingLayout(config));
  const [name] = await readdir(directory);
  const { ino } = await stat(join(directory, name!));
  await open(servingLayout(config, 'float32'));
  await open(trainingLayout(config));
  expect(await readdir(directory)).toEqual([name]);
  expect((await stat(join(directory, name!))).ino).toBe(ino);
  await open(servingLayout(config, 'int8'));
  expect(await readdir(directory)).toHaveLength(2);
});

test('files of sampler and trainer are made side by side, equal ones once, and progress is that of both', async () => {
  const { config, modelDirectory, directory } = await openModel();
  const progress: [done: number, of: number][] = [];
  const log = createRecordingLog();
  const prepare = (precision: ServingPrecision) => {
    const layouts = { served: servingLayout(config, precision), trained: trainingLayout(config) };
    const onBytes = (done: number, of: number) => void progress.push([done, of]);
    const prepared = prepareSideBySide(layouts, { modelDirectory, directory, inMemoryBytesMax: 0, onBytes, log });
    return Promise.all([prepared.served, prepared.trained]);
  };
  await prepare('float32');
  expect(await readdir(directory)).toHaveLength(1);
  await rm(directory, { recursive: true });
  progress.length = 0;
  await prepare('int8');
  const sizes = await Promise.all(
    (await readdir(directory)).map(async (name) => (await stat(join(directory, name))).size),
  );
  const bytes = sizes.reduce((a, b) => a + b, 0);
  expect(sizes).toHaveLength(2);
  expect(progress.at(-1)).toEqual([bytes, bytes]);
  expect(progress.map(([done]) => done)).toEqual(progress.map(([done]) => done).sort((a, b) => a - b));
  expect(log.lines.map(({ event }) => event)).toEqual(['weights.made', 'weights.made', 'weights.made']);
  progress.length = 0;
  await prepare('int8');
  expect(progress).toEqual([]);
});

test('if one file cannot be made, the other is given up, and nothing stays of either', async () => {
  const { config, modelDirectory, directory } = await openModel();
  const trained = trainingLayout(config);
  const [first, ...rest] = trained;
  const missing = { ...first!, name: 'none', parts: [{ ...first!.parts[0]!, name: 'none' }] };
  const prepared = prepareSideBySide(
    { served: servingLayout(config, 'int8'), trained: [...rest, missing] },
    { modelDirectory, directory, inMemoryBytesMax: 0, log: silentLog },
  );
  const [served, other] = await Promise.allSettled([prepared.served, prepared.trained]);
  expect([served, other]).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
  expect(await readdir(directory)).toEqual([]);
});

/** The same tensors with one number changed, in a file of the same size. */
async function changeModel(modelDirectory: string, config: DecoderConfig): Promise<void> {
  const path = join(modelDirectory, 'model.safetensors');
  const source = await openSafetensors(modelDirectory);
  const tensors = [];
  for (const name of source.names()) {
    tensors.push({
      name,
      shape: source.shape(name),
      data: await source.read(name),
      dtype: source.dtype(name) as 'F32',
    });
  }
  await source.close();
  tensors.find(({ name }) => name === trainingLayout(config)[0]!.parts[0]!.name)!.data[0]! += 1;
  await writeSafetensors(path, tensors);
}

test('a model whose files change gets another file; an engine that opened the old one is refused, and never gets the new weights', async () => {
  const { config, modelDirectory, directory, open } = await openModel();
  const layout = trainingLayout(config);
  const before = await open(layout);
  const [first] = await readdir(directory);
  await changeModel(modelDirectory, config);
  await before.ensure(); // its file is there: it continues with what it has
  const after = await open(layout);
  expect(await readdir(directory)).toHaveLength(2);
  const [name] = namesOf(layout);
  expect((await bytesOf(after, name!)).equals(await bytesOf(before, name!))).toBe(false);
  await rm(join(directory, first!));
  await expect(before.ensure()).rejects.toMatchObject({ code: 'bad_model_files' });
  expect(await readdir(directory)).not.toContain(first);
});

test('a file that was removed is made again when it is needed, and so is one that was cut off', async () => {
  const { config, directory, open } = await openModel();
  const layout = trainingLayout(config);
  const [weights, expected] = [await open(layout), await open(layout, Infinity)];
  const path = join(directory, (await readdir(directory))[0]!);
  await rm(path);
  await weights.ensure();
  await expectSame(weights, expected, namesOf(layout));
  await writeFile(path, 'cut off');
  await expectSame(await open(layout), expected, namesOf(layout));
});

test('weights that do not fit the configuration are refused before anything is written', async () => {
  const { config, directory, open } = await openModel();
  const [first, ...rest] = trainingLayout(config);
  const parts = [{ name: 'model.nothing.weight', shape: first!.shape }];
  await expect(open([{ ...first!, parts }, ...rest])).rejects.toMatchObject({
    code: 'bad_model_files',
    message: expect.stringContaining('model.nothing.weight') as string,
  });
  expect(await readdir(directory)).toEqual([]);
});

const aFile = (path: string, write: () => Promise<void> = () => Promise.resolve(), byteLength = 10) => ({
  path,
  byteLength,
  onBytes: () => {},
  write,
});

test('without enough disk space, the error says how much is needed and where, and nothing is left', async () => {
  const directory = await scratch();
  const path = join(directory, 'a.weights');
  const full = () => Promise.reject(Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' }));
  await expect(ensureWeightFile(aFile(path, full))).rejects.toMatchObject({
    code: 'engine_unavailable',
    message: `The weights need 0.0 GB on the disk of ${directory}, which is full. Free some space, or choose another data directory.`,
  });
  const tooLarge = ensureWeightFile(aFile(path, undefined, 1e18));
  await expect(tooLarge).rejects.toThrow(`The weights need 1000000000.0 GB on the disk of ${directory}, which has`);
  expect(await readdir(directory)).toEqual([]);
});

test('a directory that cannot be made is named', async () => {
  const file = join(await scratch(), 'a file');
  await writeFile(file, '');
  const refused = ensureWeightFile(aFile(join(file, 'a.weights')));
  await expect(refused).rejects.toMatchObject({ code: 'engine_unavailable' });
  await expect(refused).rejects.toThrow(file);
});

test('files unused for a month are deleted when another is made, and so are those of a dead process', async () => {
  const directory = await scratch();
  const aged = async (name: string, days: number) => {
    const path = join(directory, name);
    await writeFile(path, 'weights');
    const then = new Date(Date.now() - days * 86_400_000);
    await utimes(path, then, then);
  };
  await aged('forgotten.weights', 31);
  await aged('idle.weights', 29);
  await aged('abandoned.weights.1.partial', 1);
  await aged('running.weights.2.partial', 0);
  await ensureWeightFile(aFile(join(directory, 'new.weights')));
  expect((await readdir(directory)).sort()).toEqual(['idle.weights', 'new.weights', 'running.weights.2.partial']);
});
