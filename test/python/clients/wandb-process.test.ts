// Traffic of the unmodified wandb library through a server in its own process: a large artifact passes through without being held
// in memory, and what a script logs survives two kills of the server. The script's connection passes a proxy that inspects the
// bytes, so that the server dies at a defined point of the traffic. Needs the interpreter that WHETSTONE_CLIENTS_PYTHON names
// (scripts/python-env.sh clients).
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createServerProcess, type ServerProcess } from '../../support/crash/server-process.ts';
import { runPython } from '../../support/python-script.ts';
import { skipWithoutPython } from '../../support/skipping.ts';
import { KEY_OF_40 } from '../../support/clients/starter-server.ts';

const python = process.env['WHETSTONE_CLIENTS_PYTHON'];

/** The size of the artifacts here. */
const MEGABYTES = 64;
/** A server that held a file in memory would grow by more than its size. */
const GROWTH_MB_MAX = 0.75 * MEGABYTES;
/** For busy machines; nothing is measured in seconds. */
const TIMEOUT_MS = 240_000;

const script = (name: string) => fileURLToPath(new URL(`../../../python/clients/${name}`, import.meta.url));

async function run(name: string, ...args: readonly string[]): Promise<string> {
  const stdout = await runPython(python!, [script(name), ...args], { timeout: TIMEOUT_MS });
  console.log(`${name}: ${stdout.trim()}`);
  return stdout.trim().split('\n').at(-1)!;
}

describe(
  'a server process and the wandb library',
  { timeout: TIMEOUT_MS, ...skipWithoutPython('WHETSTONE_CLIENTS_PYTHON') },
  () => {
    let data: string;
    let server: ServerProcess;
    beforeAll(async () => {
      data = await mkdtemp(join(tmpdir(), 'whetstone-wandb-'));
      server = await createServerProcess(data, { WHETSTONE_API_KEY: KEY_OF_40 });
      await server.start();
    }, TIMEOUT_MS);
    afterAll(async () => {
      await server?.kill('server');
      await rm(data, { recursive: true, force: true });
    });

    test('an artifact of 64 MB goes up and down without being held', async () => {
      const line = await run(
        'measure_wandb_artifact.py',
        server.url,
        KEY_OF_40,
        String(server.pid()),
        String(MEGABYTES),
      );
      expect((JSON.parse(line) as { growth_mb: number }).growth_mb).toBeLessThan(GROWTH_MB_MAX);
    });

    test('points and files are there once, though the server was killed under both', async () => {
      const wire = await openWire(server, [
        // The points are stored, and the client does not receive the answer.
        {
          dies: 'before its answer',
          when: ({ head, hasPoints }) => hasPoints && /^POST \/files\/\S+\/file_stream /.test(head),
        },
        { dies: 'while it is sent', when: ({ head, sentBytes }) => head.startsWith('PUT ') && sentBytes > 500_000 },
      ]);
      try {
        expect(await run('check_wandb_killed.py', wire.url, KEY_OF_40, String(MEGABYTES))).toBe('ok');
        expect(wire.deaths.sort()).toEqual(['before its answer', 'while it is sent']);
      } finally {
        await wire.close();
      }
    });
  },
);

interface Request {
  /** The first bytes that its connection has sent since the last answer. */
  readonly head: string;
  readonly sentBytes: number;
  readonly hasPoints: boolean;
}

interface Death {
  readonly dies: 'before its answer' | 'while it is sent';
  readonly when: (request: Request) => boolean;
}

/** Forwards bytes. At each of these points, once, the server is killed and restarted. */
async function openWire(server: ServerProcess, planned: readonly Death[]) {
  const deaths: Death['dies'][] = [];
  const open = new Set<Socket>();
  const target = new URL(server.url);
  let restarting: Promise<void> | null = null;

  /** Whether to kill now: what is in flight is then lost with the server. */
  function dies(how: Death['dies'], request: Request): boolean {
    const isPlanned = planned.some(({ dies, when }) => dies === how && !deaths.includes(dies) && when(request));
    if (restarting || !isPlanned) return false;
    deaths.push(how);
    restarting = (async () => {
      await server.kill('server');
      for (const socket of open) socket.destroy();
      await server.start();
      restarting = null;
    })();
    return true;
  }

  const wire = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    const pair = [client, upstream];
    let request: Request = { head: '', sentBytes: 0, hasPoints: false };
    let isAnswered = true;
    for (const socket of pair) {
      open.add(socket);
      socket.on('error', () => {}); // the other side is closed below
      socket.on('close', () => {
        open.delete(socket);
        for (const each of pair) each.destroy();
      });
    }
    client.on('data', (bytes) => {
      if (isAnswered) request = { head: bytes.toString('latin1', 0, 200), sentBytes: 0, hasPoints: false };
      isAnswered = false;
      const { head, sentBytes, hasPoints } = request;
      request = {
        head,
        sentBytes: sentBytes + bytes.length,
        hasPoints: hasPoints || bytes.includes('wandb-history.jsonl'),
      };
      if (dies('while it is sent', request)) return;
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      isAnswered = true;
      if (dies('before its answer', request)) return;
      client.write(bytes);
    });
  });
  wire.listen(0, '127.0.0.1');
  await new Promise((resolve) => wire.once('listening', resolve));
  const { port } = wire.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    deaths,
    async close() {
      await restarting;
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => wire.close(resolve));
    },
  };
}
