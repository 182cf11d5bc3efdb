import { expect, onTestFinished, test, vi } from 'vitest';
import { readClientManifest } from './client-manifest.ts';

const manifest = (contents: string, more = '') => `{"version":1,"contents":{${contents}}${more}}`;
const file = '{"digest":"1B2M2Y8AsgTpgAmY7PhCfg==","size":0}';
const files = (count: number, entry = file) =>
  manifest(Array.from({ length: count }, (_, i) => `"d/${i}":${entry}`).join(','));

test('a list of as many files as an artifact has is read', async () => {
  const entries = await readClientManifest(files(10_000));
  expect(entries).toHaveLength(10_000);
  expect(entries[9_999]).toEqual({ path: 'd/9999', md5: 'd41d8cd98f00b204e9800998ecf8427e', sizeBytes: 0 });
  await expect(readClientManifest(files(10_001))).rejects.toThrow('10001 files, more than 10000');
});

test.each([
  ['keys', files(60_000, '0'), 'More than 50000 different keys'],
  ['keys that nothing reads', manifest(`"a":${file}`, `,"x":${files(60_000, '0')}`), 'More than 50000 different keys'],
  ['values', manifest(`"a":${file}`, `,"x":[${'0,'.repeat(250_000)}0]`), 'More than 250000 values'],
  ['levels', `${'{"contents":'.repeat(200)}1${'}'.repeat(200)}`, 'More than 128 levels of nesting'],
])('a list of too many %s is refused before anything is made of it', async (_, text, fault) => {
  const parse = vi.spyOn(JSON, 'parse');
  onTestFinished(() => parse.mockRestore());
  await expect(readClientManifest(text)).rejects.toMatchObject({
    code: 'artifact_conflict',
    message: expect.stringContaining(fault) as string,
  });
  expect(parse).not.toHaveBeenCalled();
});
