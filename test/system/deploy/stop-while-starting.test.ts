// A server that gets SIGTERM while it starts exits at once with a telling exit code. The kernel does not end process 1 of a
// container by a signal that it does not handle, so the runtime would otherwise wait until it kills it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { CLI } from '../../support/cli-command.ts';
import { ROOT } from '../../support/deploy/product.ts';

test.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const)('%s while a model is being downloaded ends it with %i', async (signal, code) => {
  const directory = await mkdtemp(join(tmpdir(), 'whetstone-starting-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const hub = createServer(() => {}).listen(0, '127.0.0.1'); // never answers
  onTestFinished(() => {
    hub.closeAllConnections();
    hub.close();
  });
  await once(hub, 'listening');

  const server = spawn(
    process.execPath,
    [CLI, 'serve', '--port', '0', '--data', join(directory, 'data'), '--model', 'some/model'],
    {
      cwd: ROOT,
      env: {
        PATH: process.env['PATH'],
        HF_HOME: join(directory, 'hub'),
        HF_ENDPOINT: `http://127.0.0.1:${(hub.address() as AddressInfo).port}`,
      },
      stdio: 'ignore',
    },
  );
  const ended = once(server, 'exit');
  await once(hub, 'request'); // the server is in the middle of its start
  server.kill(signal);
  expect(await ended).toEqual([code, null]);
});
