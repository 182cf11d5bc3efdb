// Vendors' command-line agents, unmodified: Claude Code over Messages and Codex over Responses, each with a session of one turn. Nothing
// that they send may be refused. Their prompts are longer than the starter's context: a model with random weights answers, whose
// words mean nothing; what counts is that the agents can read them. Without a network: they reach only the server.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLog } from '#base/log';
import { readServerConfig } from '../../../src/config/server-config.ts';
import { startServer } from '../../../src/main.ts';
import { writeTinyChatModel } from '../../support/api/tiny-chat-model.ts';
import { skipWithout } from '../../support/skipping.ts';
import { KEY } from '../../support/clients/starter-server.ts';

const BIN = fileURLToPath(new URL('../../support/agents/node_modules/.bin/', import.meta.url));
const CONTEXT = 65_536;
const TIMEOUT_MS = 300_000;

describe('command-line agents', skipWithout('AGENTS', existsSync(join(BIN, 'codex'))), () => {
  let home: string;
  let directory: string;
  let server: Awaited<ReturnType<typeof startServer>>;

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'whetstone-agents-'));
    directory = await writeTinyChatModel({ max_position_embeddings: CONTEXT });
    const settings = { data: join(home, 'data'), port: '0', model: [directory], maxModelLen: String(CONTEXT) };
    server = await startServer(readServerConfig(settings, { WHETSTONE_API_KEY: KEY }), silentLog);
    await mkdir(join(home, 'work'));
    await mkdir(join(home, 'codex'));
  }, 60_000);
  afterAll(async () => {
    await server?.close();
    for (const each of [home, directory]) if (each) await rm(each, { recursive: true, force: true });
  });

  /** What it prints; throws if it fails. */
  async function run(command: string, args: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
    const options = {
      cwd: join(home, 'work'),
      timeout: TIMEOUT_MS,
      env: { PATH: process.env['PATH'], HOME: home, ...env },
    };
    const running = promisify(execFile)(join(BIN, command), args, options);
    running.child.stdin?.end();
    return (await running).stdout;
  }

  test('Claude Code answers', { timeout: TIMEOUT_MS }, async () => {
    // A prompt and tools of its own would be 57,000 tokens for this model's small vocabulary.
    const short = ['--system-prompt', 'Be brief.', '--tools', 'Read,Bash'];
    const model = basename(directory);
    const printed = await run('claude', ['-p', 'Say hello', '--output-format', 'json', '--max-turns', '2', ...short], {
      ANTHROPIC_BASE_URL: server.url,
      ANTHROPIC_API_KEY: KEY,
      ANTHROPIC_MODEL: model,
      ANTHROPIC_SMALL_FAST_MODEL: model,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      CLAUDE_CODE_MAX_OUTPUT_TOKENS: '8000',
      DISABLE_AUTOUPDATER: '1',
      DISABLE_TELEMETRY: '1',
    });
    expect(JSON.parse(printed)).toMatchObject({ type: 'result', subtype: 'success', is_error: false });
  });

  test('Codex answers', { timeout: TIMEOUT_MS }, async () => {
    const provider = `{name="own",base_url="${server.url}/v1",env_key="OWN_KEY",wire_api="responses"}`;
    const settings = ['model_provider=own', `model_providers.own=${provider}`, 'analytics.enabled=false'];
    const printed = await run(
      'codex',
      ['exec', '--skip-git-repo-check', '--json', '-s', 'read-only', '-m', basename(directory)].concat(
        settings.flatMap((each) => ['-c', each]),
        'Say hello',
      ),
      { CODEX_HOME: join(home, 'codex'), OWN_KEY: KEY },
    );
    const events = printed.trim().split('\n').map((line) => JSON.parse(line) as { type: string }); // prettier-ignore
    expect(events.at(-1)!.type).toBe('turn.completed');
    expect(events.some(({ type }) => type === 'turn.failed')).toBe(false);
  });
});
