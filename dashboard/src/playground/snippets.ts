// A chat request as code to copy: for a shell, and for TypeScript and Python with OpenAI's clients. The key is left out, because
// code is pasted into places where keys must not be.

export interface SnippetRequest {
  /** Of the API, with its prefix, without /v1. */
  readonly url: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export const SNIPPETS = {
  curl: { label: 'curl', write: curl },
  typescript: { label: 'TypeScript', write: typescript },
  python: { label: 'Python', write: python },
} as const;

export type SnippetKind = keyof typeof SNIPPETS;

function curl({ url, body }: SnippetRequest): string {
  const json = JSON.stringify(body, null, 2).replaceAll("'", `'\\''`);
  return `curl ${shellText(`${url}/v1/chat/completions`)} \\
  -H "Authorization: Bearer $WHETSTONE_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '${json}'
`;
}

const shellText = (text: string): string => (/^[\w:/.-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

function typescript({ url, body }: SnippetRequest): string {
  return `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: ${JSON.stringify(`${url}/v1`)}, apiKey: process.env.WHETSTONE_API_KEY });
const answer = await client.chat.completions.create(${JSON.stringify(body, null, 2)});
console.log(answer.choices[0].message);
`;
}

/** Arguments that OpenAI's Python client accepts by name; the rest goes into extra_body. */
const PYTHON_NAMES = new Set(
  'model messages temperature top_p n seed max_tokens frequency_penalty presence_penalty logit_bias stop tools tool_choice parallel_tool_calls response_format reasoning_effort logprobs top_logprobs'.split(
    ' ',
  ),
);

function python({ url, body }: SnippetRequest): string {
  const entries = Object.entries(body);
  const named = entries
    .filter(([name]) => PYTHON_NAMES.has(name))
    .map(([name, value]) => `    ${name}=${pythonValue(value, 4)},`);
  const extra = Object.fromEntries(entries.filter(([name]) => !PYTHON_NAMES.has(name)));
  if (Object.keys(extra).length > 0) named.push(`    extra_body=${pythonValue(extra, 4)},`);
  return `import os
from openai import OpenAI

client = OpenAI(base_url=${pythonValue(`${url}/v1`, 0)}, api_key=os.environ["WHETSTONE_API_KEY"])
answer = client.chat.completions.create(
${named.join('\n')}
)
print(answer.choices[0].message)
`;
}

/** JSON strings are valid Python strings, except for characters beyond 16 bits, which JSON may leave unescaped. */
function pythonValue(value: unknown, indent: number): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const pad = ' '.repeat(indent + 4);
  const end = ' '.repeat(indent);
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    return `[\n${value.map((each) => `${pad}${pythonValue(each, indent + 4)},\n`).join('')}${end}]`;
  }
  const entries = Object.entries(value);
  if (entries.length === 0) return '{}';
  return `{\n${entries.map(([name, each]) => `${pad}${JSON.stringify(name)}: ${pythonValue(each, indent + 4)},\n`).join('')}${end}}`;
}
