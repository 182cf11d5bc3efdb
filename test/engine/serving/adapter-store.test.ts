import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AdapterRef } from '#engine/inference-engine';
import { AdapterStore, type AdapterLimits } from '#engine/onnx/serving/adapter-store';
import { adapterSetBytes } from '#engine/onnx/serving/fused-adapters';
import { writeTinyModel, type TinyModel } from '../../support/serving/tiny-model.ts';

let model: TinyModel;
let a: AdapterRef, b: AdapterRef, c: AdapterRef;
beforeAll(async () => {
  model = await writeTinyModel();
  a = await model.writeAdapter('a', { seed: 1, rank: 8 });
  b = await model.writeAdapter('b', { seed: 2, rank: 8 });
  c = await model.writeAdapter('c', { seed: 3, rank: 64 });
});
afterAll(() => model.remove());

const limits = (maxAdapters: number, adapterBytes = 1e9): AdapterLimits => ({ maxAdapters, adapterBytes });

test('the least recently used adapter makes room, but never one in use', async () => {
  const store = new AdapterStore(model.config, limits(2));
  await store.acquire(a);
  await store.load(b);
  await store.load(c);
  expect(store.ids).toEqual(['a', 'c']);
  store.release('a');
  await store.load(b);
  expect(store.ids).toEqual(['c', 'b']);
});

test('when all places are in use the caller gets an error that says when to come back', async () => {
  const store = new AdapterStore(model.config, limits(1));
  await store.acquire(a);
  await expect(store.acquire(b)).rejects.toMatchObject({ code: 'too_many_requests' });
  store.release('a');
  await store.acquire(b);
  expect(store.ids).toEqual(['b']);
});

test('adapters are evicted before they exceed their limit, and those in use make others wait', async () => {
  const bytes = adapterSetBytes(model.config, [8]);
  const store = new AdapterStore(model.config, limits(64, 2 * 2 * bytes)); // two adapters, and the set of both
  for (const ref of [a, b]) await store.load(ref);
  await store.acquire(a);
  await expect(store.acquire(c)).rejects.toThrow(
    /adapter needs .* of memory, and the adapters in use \(1\) leave less/,
  );
  expect(store.ids).toEqual(['b', 'a']); // a refused adapter displaces none
  const d = await model.writeAdapter('d', { seed: 4, rank: 8 });
  await store.acquire(d);
  expect(store.ids).toEqual(['a', 'd']);
});

test('adapters are read one after another, the first that was asked for first, however large it is', async () => {
  const store = new AdapterStore(model.config, limits(64));
  await Promise.all([store.load(c), store.load(a), store.load(b)]);
  expect(store.ids).toEqual(['c', 'a', 'b']);
  const broken = { id: 'broken', directory: join(model.directory, 'none') };
  const [failed, loaded] = await Promise.allSettled([store.load(broken), store.load({ ...b, id: 'again' })]);
  expect([failed, loaded]).toMatchObject([{ status: 'rejected' }, { status: 'fulfilled' }]);
});

test('an adapter larger than all memory for adapters is let in alone', async () => {
  const store = new AdapterStore(model.config, limits(64, 1));
  await store.load(a);
  await store.acquire(c);
  expect(store.ids).toEqual(['c']);
  await expect(store.acquire(a)).rejects.toMatchObject({ code: 'too_many_requests' });
});

test('an adapter that is unloaded while in use goes when its last user does', async () => {
  const store = new AdapterStore(model.config, limits(2));
  await Promise.all([store.acquire(a), store.acquire(a)]);
  store.unload('a');
  store.release('a');
  expect(store.ids).toEqual(['a']);
  store.release('a');
  expect(store.ids).toEqual([]);
});

test('a batch with fewer adapters keeps the set of the last one, unless most of it would be wasted', async () => {
  const store = new AdapterStore(model.config, limits(4));
  for (const ref of [a, b, c]) await store.acquire(ref);
  const pair = store.fused(['a', null, 'b', 'a']);
  expect(pair.ids).toEqual(['a', 'b']);
  const all = store.fused(['a', 'b', 'c']);
  expect(store.fused(['c', 'a'])).toBe(all);
  expect(store.fused(['a', 'b'])).toBe(pair);
});

test('a prompt gets its own adapter and no other, made once, and so does a batch of one adapter', async () => {
  const store = new AdapterStore(model.config, limits(4));
  for (const ref of [a, b]) await store.acquire(ref);
  store.fused(['a', 'b']);
  expect(store.alone('b').ids).toEqual(['b']);
  expect(store.alone('b')).toBe(store.alone('b'));
  expect(store.fused(['b', null, 'b'])).toBe(store.alone('b'));
  expect(store.alone(null).ids).toEqual([]);
  expect(store.fused([null])).toBe(store.alone(null));
});

test('a value that is not a number is refused, as it would reach the whole batch', async () => {
  const broken = await model.writeAdapter('broken', { seed: 1, scale: NaN });
  const store = new AdapterStore(model.config, limits(2));
  await expect(store.load(broken)).rejects.toMatchObject({
    code: 'bad_model_files',
    message: expect.stringContaining('lora_B') as string,
  });
});

test('a directory that is no adapter, or a kind that is not supported, is refused', async () => {
  const store = new AdapterStore(model.config, limits(2));
  await expect(store.load({ id: 'none', directory: '/nonexistent' })).rejects.toMatchObject({
    code: 'bad_model_files',
  });
  const pattern = await model.writeAdapter('pattern', { seed: 1 });
  const config = { peft_type: 'LORA', r: 4, lora_alpha: 8, target_modules: ['q_proj'], rank_pattern: { q_proj: 8 } };
  await writeFile(join(pattern.directory, 'adapter_config.json'), JSON.stringify(config));
  await expect(store.load(pattern)).rejects.toThrow(/rank_pattern/);
});
