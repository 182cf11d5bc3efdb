// Vendors' command-line agents, unmodified: Claude Code over Messages and Codex over Responses, each through a session in which it calls a
// tool, starts a subagent, compacts its conversation and goes on. What the model says is scripted, because no model that fits here would
// do all that; all else is the server as it is. Nothing that the agents send may be refused, and their calls are recorded whole, under
// an address as their user would give it. Without a network: they reach only the server.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient, type Client, type EpisodeCall } from '#client/client';
import { register } from '../../support/api/registered-model.ts';
import { BOOTSTRAP_KEY, openTestServer, type TestServer } from '../../support/api/test-server.ts';
import { skipWithout } from '../../support/skipping.ts';
import { speakScript, type Script } from '../api/scripted-engine.ts';

const BIN = fileURLToPath(new URL('../../support/agents/node_modules/.bin/', import.meta.url));
const MODEL = 'p/agent';
/** Claude Code's instructions and tools are tens of thousands of tokens for the small vocabulary of this model. */
const CONTEXT = 400_000;
const TIMEOUT_MS = 300_000;

/** What the model says to the last message that it hears, by the first pattern that this message matches. */
type Line = readonly [heard: RegExp, says: string | ((heard: RegExpExecArray) => string)];

const calling = (name: string, args: object): string =>
  `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`;

const TASK = 'MEND THE PARSER';
const SUBTASK = 'COUNT THE FILES';
const SUMMARY = 'The parser was mended, and there is one file.';
const ANSWERS = { subagent: 'There is one file.', agent: 'All is mended.', later: 'Still mended.' };
const COMMON: readonly Line[] = [
  [/There is one file/, ANSWERS.agent],
  [/GO ON/, ANSWERS.later],
];
const LINES: Readonly<Record<'claude' | 'codex', readonly Line[]>> = {
  claude: [
    [/summary of the conversation/, `<analysis>It went well.</analysis>\n<summary>${SUMMARY}</summary>`],
    ...COMMON,
    [/COUNT THE FILES/, ANSWERS.subagent],
    [
      /seen by the shell/,
      calling('Agent', {
        description: 'Count',
        prompt: SUBTASK,
        subagent_type: 'general-purpose',
        run_in_background: false,
      }),
    ],
    [/MEND THE PARSER/, calling('Bash', { command: 'echo seen by the shell', description: 'Look' })],
  ],
  codex: [
    [/CONTEXT CHECKPOINT COMPACTION/, SUMMARY],
    ...COMMON,
    [/"agent_id":"([^"]+)"/, ([, id]) => calling('multi_agent_v1__wait_agent', { targets: [id], timeout_ms: 60_000 })],
    [/COUNT THE FILES/, ANSWERS.subagent],
    [/seen by the shell/, calling('multi_agent_v1__spawn_agent', { message: SUBTASK })],
    [/MEND THE PARSER/, calling('exec_command', { cmd: 'echo seen by the shell' })],
  ],
};

function answerTo(prompt: string, lines: readonly Line[]): string {
  const turns = prompt.split('<|im_start|>').slice(1, -1);
  const last = turns.findLast((turn) => !turn.startsWith('system'))!;
  for (const [heard, says] of lines) {
    const found = heard.exec(last);
    if (found) return typeof says === 'string' ? says : says(found);
  }
  throw new Error(`The script has no answer to:\n${last}`);
}

/** A call as the tests look at it. `parent`: its number in the list; `mine`: what it says that its parent does not. */
interface Recorded {
  readonly parent: number | null;
  readonly sharesMost: boolean;
  readonly tools: readonly string[] | null;
  readonly mine: string;
}

describe('command-line agents', skipWithout('AGENTS', existsSync(join(BIN, 'codex'))), () => {
  const script: Script = { text: '', asked: null };
  /** All that the model read and wrote. */
  const spoken: string[] = [];
  const refused: string[] = [];
  let home: string;
  let server: TestServer;
  let client: Client;
  let url: string;

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'whetstone-agents-'));
    server = await openTestServer({
      limits: { bodyBytesMax: 8_000_000 },
      modelChanges: { max_position_embeddings: CONTEXT },
      episodeBounds: { openMax: 8, callsMax: 100, tokensMax: 10_000_000 },
      wrapEngine: (real) => ({ ...speakScript(real, () => server.model.text, script), contextLength: CONTEXT }),
    });
    await register(server, 'agent');
    url = await server.app.listen({ port: 0, host: '127.0.0.1' });
    server.app.server.on('request', ({ method, url: address }, response) => {
      response.once('finish', () => {
        if (response.statusCode >= 400) refused.push(`${response.statusCode} ${method} ${address}`);
      });
    });
    client = createClient({ baseUrl: url, apiKey: BOOTSTRAP_KEY });
    await mkdir(join(home, 'work'));
    await mkdir(join(home, 'codex'));
  }, TIMEOUT_MS);
  afterAll(async () => {
    await server?.close();
    if (home) await rm(home, { recursive: true, force: true });
  });

  function speakAs(agent: keyof typeof LINES): void {
    spoken.length = refused.length = 0;
    script.text = (prompt) => {
      const says = answerTo(prompt, LINES[agent]);
      spoken.push(prompt + says);
      return says;
    };
  }

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

  /** All calls, which were trained and recorded whole: with every token that the model read and wrote, and nothing else. */
  async function recorded(episode: string): Promise<Recorded[]> {
    const { tokenizer } = server.model.text;
    const textOf = (ids: readonly number[]) => tokenizer.decode(ids, { skipSpecialTokens: false });
    const stored: string[] = [];
    for await (const { prompt_token_ids: ids, choices, trained, cut } of client.listEpisodeTokens(episode)) {
      expect({ trained, cut }).toEqual({ trained: true, cut: false });
      stored.push(textOf(ids) + textOf(choices[0]!.token_ids.slice(0, -1)));
    }
    expect(stored.toSorted()).toEqual(spoken.toSorted());
    const calls: EpisodeCall[] = [];
    for await (const call of client.listEpisodeCalls(episode)) calls.push(call);
    return calls.map(({ parent_id: parent, shared_tokens: shared, prompt_tokens: all, tools, messages }) => ({
      parent: parent === null ? null : calls.findIndex(({ id }) => id === parent),
      sharesMost: shared > 0.9 * all,
      tools: tools && tools.map((tool) => (tool['function'] as { name: string }).name),
      mine: JSON.stringify(messages),
    }));
  }
  const hearing = (words: string): unknown => expect.stringContaining(words);

  test('Claude Code', { timeout: TIMEOUT_MS }, async () => {
    speakAs('claude');
    const options = ['--output-format', 'json', '--max-turns', '9', '--allowedTools', 'Bash', 'Agent'];
    const env = {
      ANTHROPIC_BASE_URL: `${url}/e/tasks/claude`,
      ANTHROPIC_API_KEY: BOOTSTRAP_KEY,
      ANTHROPIC_MODEL: MODEL,
      ANTHROPIC_SMALL_FAST_MODEL: MODEL,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      DISABLE_TELEMETRY: '1',
    };
    const ask = async (...args: string[]) => JSON.parse(await run('claude', [...args, ...options], env)) as object;
    const ended = { type: 'result', subtype: 'success', is_error: false };
    expect(await ask('-p', TASK)).toMatchObject({ ...ended, result: ANSWERS.agent });
    expect(await ask('-p', '/compact', '--continue')).toMatchObject(ended);
    expect(await ask('-p', 'GO ON', '--continue')).toMatchObject({ ...ended, result: ANSWERS.later });

    expect(refused).toEqual([]);
    const calls = await recorded('claude');
    expect(calls).toMatchObject([
      { parent: null, mine: hearing(TASK) },
      { parent: 0, sharesMost: true, mine: hearing('seen by the shell') },
      { parent: null, mine: hearing(SUBTASK) },
      { parent: 1, sharesMost: true, mine: hearing(ANSWERS.subagent) },
      { parent: 3, mine: hearing('summary of the conversation') }, // it asks at length
      { parent: 0, mine: hearing(SUMMARY) },
    ]);
    expect(calls[0]!.tools).toHaveLength(12);
    expect(calls[0]!.tools).toEqual(expect.arrayContaining(['Agent', 'Bash', 'Edit']));
    expect(calls[2]!.tools).toHaveLength(10);
  });

  test('Codex', { timeout: TIMEOUT_MS }, async () => {
    speakAs('codex');
    const provider = `{name="own",base_url="${url}/e/tasks/codex/v1",env_key="OWN_KEY",wire_api="responses"}`;
    const own = ['model_provider=own', `model_providers.own=${provider}`, 'analytics.enabled=false'];
    const ask = async (args: readonly string[], more: readonly string[] = []) => {
      const settings = [...own, ...more].flatMap((each) => ['-c', each]);
      const options = ['--skip-git-repo-check', '--json', '-s', 'danger-full-access', '-m', MODEL];
      const env = { CODEX_HOME: join(home, 'codex'), OWN_KEY: BOOTSTRAP_KEY };
      const printed = await run('codex', ['exec', ...options, ...settings, ...args], env);
      return printed
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as object);
    };
    const said = (text: string) => ({ type: 'item.completed', item: { type: 'agent_message', text } });
    const ended = (text: string) => [said(text), { type: 'turn.completed' }];
    expect((await ask([TASK])).slice(-2)).toMatchObject(ended(ANSWERS.agent));
    // It has more tokens than this already, and compacts them first.
    const again = await ask(['resume', '--last', 'GO ON'], ['model_auto_compact_token_limit=20000']);
    expect(again.slice(-2)).toMatchObject(ended(ANSWERS.later));

    expect(refused).toEqual([]);
    const calls = await recorded('codex');
    const at = (words: string) => calls.findIndex(({ mine }) => mine.includes(words));
    expect(calls).toHaveLength(7);
    expect(calls[0]).toMatchObject({ parent: null, mine: hearing(TASK) });
    const namespaced = calls[0]!.tools!.filter((name) => name.startsWith('multi_agent_v1__'));
    expect(namespaced).toHaveLength(5);
    expect(calls[0]!.tools).toContain('exec_command');
    const [subagent] = calls.filter(({ tools }) => tools && !tools.includes('multi_agent_v1__spawn_agent'));
    expect(subagent).toMatchObject({ parent: 0, sharesMost: false, mine: hearing(SUBTASK) });
    expect(calls[1]).toMatchObject({ parent: 0, sharesMost: true, mine: hearing('seen by the shell') });
    expect(calls[at(ANSWERS.subagent)]).toMatchObject({ sharesMost: true });
    expect(calls[at('CONTEXT CHECKPOINT COMPACTION')]).toMatchObject({ parent: 0, sharesMost: true }); // all but the tools
    expect(calls.at(-1)).toMatchObject({ parent: 0, sharesMost: true, mine: hearing(SUMMARY) });
  });
});
