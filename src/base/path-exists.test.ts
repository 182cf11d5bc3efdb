import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { pathExists } from './path-exists.ts';

test('a path exists, does not, or cannot be looked at', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'whetstone-path-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const at = (name: string) => join(directory, name);
  await writeFile(at('file'), '');
  await symlink(at('gone'), at('link'));
  await symlink(at('loop'), at('loop'));
  expect(await pathExists(at('file'))).toBe(true);
  for (const name of ['none', 'file/below', 'link', 'x'.repeat(300)]) expect(await pathExists(at(name))).toBe(false);
  await expect(pathExists(at('loop'))).rejects.toMatchObject({ code: 'ELOOP' });
});
