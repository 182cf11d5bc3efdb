// The versions in the guide to clients are those that the tests install.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

const npm = (name: string) => {
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, { version: string }> };
  return packages[`node_modules/${name}`]!.version;
};
const agent = (name: string) => {
  const { dependencies } = JSON.parse(read('test/support/agents/package.json')) as {
    dependencies: Record<string, string>;
  };
  return dependencies[name]!;
};
const pip = (name: string, file: string) =>
  new RegExp(`^${name}(?:\\[.*\\])?==(\\S+)`, 'm').exec(read(`python/${file}.txt`))![1]!;
const framework = (name: string) => pip(name, 'frameworks/requirements');

/** By client, as the guide calls it. */
const VERSIONS: Readonly<Record<string, readonly string[]>> = {
  '`openai` for Node': [npm('openai')],
  '`openai` for Python': [pip('openai', 'clients/requirements')],
  '`@anthropic-ai/sdk`, `anthropic`': [npm('@anthropic-ai/sdk'), pip('anthropic', 'clients/requirements')],
  'all answers, strictly': ['sdks/requirements', 'sdks/requirements-earlier'].flatMap((file) => [pip('openai', file), pip('anthropic', file)]),
  'Vercel AI SDK': [npm('ai')],
  'LangChain for JavaScript': [npm('@langchain/openai')],
  'LangChain’s standard suite': [framework('langchain-tests'), framework('langchain-openai')],
  LiteLLM: [framework('litellm')],
  instructor: [framework('instructor')],
  '`pydantic-ai`': [framework('pydantic-ai-slim')],
  outlines: [framework('outlines')],
  'openai-agents': [framework('openai-agents')],
  LangGraph: [framework('langgraph')],
  DSPy: [framework('dspy')],
  verifiers: [framework('verifiers'), framework('renderers')],
  'inspect-ai': [pip('inspect-ai', 'sdks/requirements')],
  'Claude Code': [agent('@anthropic-ai/claude-code')],
  Codex: [agent('@openai/codex')],
  ART: [pip('openpipe-art', 'clients/requirements'), pip('openpipe-art', 'art/requirements')],
}; // prettier-ignore

describe('the guide to clients', () => {
  const table = /^\| client .*\| what runs .*\n\|.*\n((?:\|.*\n)+)/m.exec(read('docs/guides/clients.md'))![1]!;
  const rows = table.trim().split('\n').map((row) => row.split('|').map((cell) => cell.trim())); // prettier-ignore
  const named = Object.fromEntries(
    rows.map(([, client, version, runs]) => [client!.replace("'", '’'), `${version} ${runs}`.match(/\d+\.\d+\.\d+/g)]),
  );

  test('has a row for every client that is tested', () => {
    expect(Object.keys(named).sort()).toEqual(Object.keys(VERSIONS).sort());
  });

  test.each(Object.entries(VERSIONS))('names the versions of %s that are installed', (client, versions) => {
    expect([...new Set(named[client])].sort()).toEqual([...versions].sort());
  });
});
