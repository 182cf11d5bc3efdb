// The server as `whetstone serve` starts it, on the starter model, for the tests of clients.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { silentLog } from '#base/log';
import { readServerConfig } from '../../../src/config/server-config.ts';
import { startServer } from '../../../src/main.ts';
import { CLI } from '../cli-command.ts';

export const KEY = 'wk-clients';
/** As long as the `wandb` library requires. */
export const KEY_OF_40 = `wk-${'0123456789'.repeat(4)}`;
export const MODEL = 'whetstone/starter';

export interface StarterServer {
  readonly baseUrl: string;
  /** A key as the operator makes one for another team. */
  createKey(entity: string): Promise<string>;
  close(): Promise<void>;
}

/** `flags`: command-line flags. */
export async function openStarterServer(
  key = KEY,
  flags: {
    readonly model?: string[];
    readonly tinkerAlias?: string[];
    readonly workerModel?: string[];
    readonly allowedWebhookNetwork?: string[];
  } = {},
): Promise<StarterServer> {
  const data = await mkdtemp(join(tmpdir(), 'whetstone-clients-'));
  const server = await startServer(
    readServerConfig({ data, port: '0', ...flags }, { WHETSTONE_API_KEY: key }),
    silentLog,
  );
  return {
    baseUrl: `${server.url}/v1`,
    async createKey(entity) {
      const command = [CLI, 'keys', 'create', '--entity', entity, '--data', data];
      return (await promisify(execFile)(process.execPath, command)).stdout.trim();
    },
    async close() {
      await server.close();
      await rm(data, { recursive: true, force: true });
    },
  };
}

/** A question that the starter answers with a call if it may, and the tool for it. */
export const WEATHER_QUESTION = 'What is the weather in Paris?';
export const WEATHER_PARAMETERS = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
} as const;
export const YES_OR_NO = {
  type: 'object',
  properties: { answer: { type: 'string', enum: ['yes', 'no'] } },
  required: ['answer'],
  additionalProperties: false,
} as const;
