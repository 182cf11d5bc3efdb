// Types that a generator of another language makes from the API's description: the main objects have the names that the description gives
// them, and hold the server's answers. Needs the interpreter that WHETSTONE_CLIENTS_PYTHON names (scripts/python-env.sh clients).
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MAIN_OBJECTS } from '../../support/clients/main-objects.ts';
import { KEY, MODEL, openStarterServer, type StarterServer } from '../../support/clients/starter-server.ts';
import { runPython } from '../../support/python-script.ts';
import { skipWithoutPython } from '../../support/skipping.ts';

const python = process.env['WHETSTONE_CLIENTS_PYTHON']!;
const DESCRIPTION = fileURLToPath(new URL('../../../docs/openapi.json', import.meta.url));

/** `answers`: pairs of a name and an answer. */
const CHECK = `
import json, sys
import types_of_api
names, answers, description = json.load(open(sys.argv[1]))
missing = [name for name in names if not isinstance(getattr(types_of_api, name, None), type)]
for name, schema in json.load(open(description))["components"]["schemas"].items():
    own = getattr(types_of_api, name)
    fields = {field.alias or each for each, field in getattr(own, "model_fields", {}).items()}
    if fields and not set(schema.get("properties", {})) <= fields:
        missing.append(f"{name} is another object")
for name, answer in answers:
    getattr(types_of_api, name).model_validate(answer)
print(json.dumps(missing))
`;

describe('types generated for Python', skipWithoutPython('WHETSTONE_CLIENTS_PYTHON'), () => {
  let server: StarterServer;
  let directory: string;
  beforeAll(async () => {
    server = await openStarterServer();
    directory = await mkdtemp(join(tmpdir(), 'whetstone-types-'));
  });
  afterAll(async () => {
    await server.close();
    await rm(directory, { recursive: true, force: true });
  });

  async function answerOf(path: string, body?: object): Promise<unknown> {
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
    const sent = body ? { method: 'POST', body: JSON.stringify(body) } : {};
    const response = await fetch(`${server.baseUrl}${path}`, { headers, ...sent });
    expect(response.status).toBe(200);
    return response.json();
  }

  test('have the names of the main objects, and accept what the server answers', { timeout: 180_000 }, async () => {
    const generator = [
      ...['-m', 'datamodel_code_generator', '--disable-warnings', '--input-file-type', 'openapi'],
      ...['--formatters', 'builtin'],
    ];
    const output = join(directory, 'types_of_api.py');
    const model = ['--output-model-type', 'pydantic_v2.BaseModel'];
    await runPython(python, [...generator, ...model, '--input', DESCRIPTION, '--output', output]);
    const messages = [{ role: 'user', content: 'What is 1 + 1?' }];
    const answers = [
      ['Overview', await answerOf('/overview')],
      ['OpenAIModelList', await answerOf('/models')],
      [
        'ChatCompletion',
        await answerOf('/chat/completions', { model: MODEL, messages, max_tokens: 4, logprobs: true }),
      ],
      ['Message', await answerOf('/messages', { model: MODEL, messages, max_tokens: 4 })],
      ['Response', await answerOf('/responses', { model: MODEL, input: 'What is 1 + 1?', max_output_tokens: 4 })],
      ['Model', await answerOf('/preview/models', { project: 'p', name: 'typed', base_model: MODEL })],
    ];
    const input = join(directory, 'input.json');
    await writeFile(input, JSON.stringify([MAIN_OBJECTS, answers, DESCRIPTION]));
    const env = { ...process.env, PYTHONPATH: dirname(output) };
    expect(JSON.parse(await runPython(python, ['-c', CHECK, input], { env }))).toEqual([]);
  });
});
