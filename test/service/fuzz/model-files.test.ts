// Model files that lie: safetensors, GGUF and tokenizer.json, valid ones with small changes. They are read, or refused as bad model files;
// nothing else is thrown, and nothing reads for long.
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Random } from '#base/random';
import { AppError } from '#domain/errors';
import { exportGgufModel } from '#model-files/gguf/export-gguf';
import { openGgufFile } from '#model-files/gguf/gguf-file';
import { makeGgufDirectory, openGgufTensors } from '#model-files/gguf/gguf-model';
import { openSafetensors, type TensorSource } from '#model-files/safetensors';
import { readTextModel } from '#text/text-model';
import { writeTinyChatModel } from '../../support/api/tiny-chat-model.ts';
import { fuzz, FUZZ_TIMEOUT_MS } from './fuzzing.ts';
import { mutateBytes, mutateJson, oneOf } from './mutations.ts';

let scratch: string;
let model: string;
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'whetstone-fuzz-'));
  model = await writeTinyChatModel();
});
afterAll(async () => {
  for (const directory of [scratch, model]) await rm(directory, { recursive: true });
});

/** Refusals are what these files deserve. */
async function refusedOrRead(read: () => Promise<void>): Promise<void> {
  await read().catch((error: unknown) => {
    if (!(error instanceof AppError)) throw error;
    expect(['bad_model_files', 'invalid_request', 'unsupported_model']).toContain(error.code);
    expect(error.message.length, error.message.slice(0, 300)).toBeLessThan(5_000);
  });
}

async function readAll(source: TensorSource): Promise<void> {
  try {
    for (const name of source.names()) {
      const size = source.shape(name).reduce((product, each) => product * each, 1);
      const values = await source.read(name);
      expect(values.length).toBe(size);
    }
  } finally {
    await source.close();
  }
}

test('safetensors', { timeout: FUZZ_TIMEOUT_MS }, async () => {
  const whole = await readFile(join(model, 'model.safetensors'));
  const length = Number(whole.readBigUInt64LE());
  const header = JSON.parse(whole.subarray(8, 8 + length).toString()) as Record<string, unknown>;
  const path = join(scratch, 'model.safetensors');
  const make = (random: Random): Uint8Array => {
    if (random.next() < 0.5) return mutateBytes(whole, random, 8 + length);
    const json = Buffer.from(JSON.stringify(mutateJson(header, random)));
    const size = Buffer.alloc(8);
    size.writeBigUInt64LE(BigInt(json.length));
    return Buffer.concat([size, json, whole.subarray(8 + length)]);
  };
  const run = (bytes: Uint8Array) =>
    refusedOrRead(async () => {
      await writeFile(path, bytes);
      await readAll(await openSafetensors(path));
    });
  expect(await fuzz({ name: 'safetensors', make, run, show })).toBeGreaterThan(0);
});

test('GGUF', { timeout: FUZZ_TIMEOUT_MS }, async () => {
  const intact = join(scratch, 'intact.gguf');
  await exportGgufModel({ base: model, adapter: null, out: intact, name: 'tiny' }, 'F16');
  const whole = await readFile(intact);
  const opened = await openGgufFile(intact);
  await opened.close();
  const header = whole.indexOf('output_norm.weight') + 100;
  const keys = [...opened.metadata.keys()].map((key) => whole.indexOf(key));
  const path = join(scratch, 'changed.gguf');
  const directory = join(scratch, 'gguf');
  await mkdir(directory);
  /** Near a key of the metadata, near the list of tensors, or anywhere. */
  const make = (random: Random): Uint8Array => {
    if (random.next() < 0.3) return mutateBytes(whole, random, header);
    const at = random.next() < 0.7 ? oneOf(keys, random) : whole.indexOf('token_embd.weight');
    const near = whole.subarray(at, at + 120);
    return Buffer.concat([whole.subarray(0, at), mutateBytes(near, random), whole.subarray(at + 120)]);
  };
  const run = (bytes: Uint8Array) =>
    refusedOrRead(async () => {
      await writeFile(path, bytes);
      const made = await makeGgufDirectory(path, directory);
      try {
        await readTextModel(made);
        const source = await openGgufTensors(made);
        if (source) await readAll(source);
      } finally {
        await rm(made, { recursive: true, force: true });
      }
    });
  expect(await fuzz({ name: 'GGUF', make, run, show })).toBeGreaterThan(0);
});

const TEXTS = [
  '',
  'Hello world 123',
  '<|im_start|>user\nWas ist 1+1?<|im_end|>',
  '世界 \u00a0🙂\r\n\t  x',
  'a'.repeat(300),
];

test('tokenizer.json', { timeout: FUZZ_TIMEOUT_MS }, async () => {
  const directory = join(scratch, 'tokenizer');
  await mkdir(directory);
  await copyFile(join(model, 'config.json'), join(directory, 'config.json'));
  const found = await Promise.all(
    ['qwen', 'llama3'].map(async (style) => {
      const from = new URL(`../../support/golden/fixtures/tokenizers/${style}/`, import.meta.url);
      const read = async (name: string): Promise<unknown> => JSON.parse(await readFile(new URL(name, from), 'utf8'));
      return {
        json: (await read('tokenizer.json')) as Record<string, unknown>,
        config: await read('tokenizer_config.json'),
      };
    }),
  );
  /** Most places of the file are entries of its vocabulary: the other parts are changed as often. */
  const make = (random: Random) => {
    const { json, config } = oneOf(found, random);
    const part = oneOf(Object.keys(json), random);
    const other = random.next() < 0.2 ? mutateJson(config, random) : config;
    if (random.next() < 0.3) return { json: mutateJson(json, random), config: other };
    return { json: { ...json, [part]: mutateJson(json[part], random) }, config: other };
  };
  const run = ({ json, config }: { json: unknown; config: unknown }) =>
    refusedOrRead(async () => {
      await writeFile(join(directory, 'tokenizer.json'), JSON.stringify(json));
      await writeFile(join(directory, 'tokenizer_config.json'), JSON.stringify(config));
      const { tokenizer } = await readTextModel(directory);
      for (const text of TEXTS) tokenizer.decode(tokenizer.encode(text));
      for (let id = -1; id < Math.min(500, tokenizer.vocabSize + 1); id++) tokenizer.tokenText(id);
    });
  const show = ({ json, config }: { json: unknown; config: unknown }) => {
    const before = found.find(
      ({ json: each }) => JSON.stringify(each).slice(0, 50) === JSON.stringify(json).slice(0, 50),
    );
    const parts = Object.entries(json as object).filter(
      ([key, value]) => JSON.stringify(before?.json[key]) !== JSON.stringify(value),
    );
    return JSON.stringify([Object.fromEntries(parts), config]);
  };
  expect(await fuzz({ name: 'tokenizer.json', make, run, show })).toBeGreaterThan(0);
});

const show = (bytes: Uint8Array): string => `${bytes.length} bytes`;
