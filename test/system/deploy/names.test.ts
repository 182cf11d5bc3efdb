// Every variable named in the files of deploy/ and their guide belongs to the server, and every file named there exists.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { REMOTE_SETTINGS } from '#config/remote-settings';
import { SETTINGS } from '#config/settings';
import { read, ROOT } from '../../support/deploy/product.ts';

const GUIDE = 'docs/guides/deploying.md';

/** Docker Compose's own variables, which are placeholders. */
const OF_COMPOSE = ['WHETSTONE_IMAGE'];

const files = readdirSync(join(ROOT, 'deploy'), { recursive: true, withFileTypes: true, encoding: 'utf8' })
  .filter((entry) => entry.isFile())
  .map(({ parentPath, name }) => join(parentPath, name).slice(ROOT.length))
  .filter((path) => !/^deploy\/(kuberay|grafana)\//.test(path));

test.each(['Dockerfile', '.dockerignore', GUIDE, ...files])('%s names no variable that there is not', async (path) => {
  const variables = Object.values({ ...SETTINGS, ...REMOTE_SETTINGS }).map(({ variable }) => variable);
  const named = (await read(path)).match(/\b(?:WHETSTONE|HF)_[A-Z_]*[A-Z]\b/g) ?? [];
  expect([...variables, ...OF_COMPOSE]).toEqual(expect.arrayContaining(named));
});

test.each(['Dockerfile', GUIDE, ...files])('%s names no file of the repository that there is not', async (path) => {
  const named = (await read(path)).match(/(?<!\btest\/(?:\w+\/)?)\b(?:deploy|docs|scripts)\/[\w./-]*\w/g) ?? [];
  expect(named.filter((each) => !existsSync(join(ROOT, each)) && each !== 'deploy/compose/.env')).toEqual([]);
});
