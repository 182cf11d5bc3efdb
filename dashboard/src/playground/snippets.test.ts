import { expect, test } from 'vitest';
import { SNIPPETS } from './snippets.ts';

const request = {
  url: 'http://127.0.0.1:8484/api',
  body: {
    model: 'default/p/m@3',
    messages: [{ role: 'user', content: `It's "$HOME" \`x\` 🎈\n` }],
    temperature: 0.5,
    min_p: 0.1,
    ignore_eos: true,
    stop: [],
    tools: null,
  },
};

test('curl: characters special to the shell are quoted', () => {
  const text = SNIPPETS.curl.write(request);
  expect(text).toContain('curl http://127.0.0.1:8484/api/v1/chat/completions \\');
  expect(text).toContain(`"It'\\''s \\"$HOME\\" \`x\` 🎈\\n"`);
  const quoted = text.slice(text.indexOf("-d '") + 4, -2).replaceAll(`'\\''`, "'");
  expect(JSON.parse(quoted)).toEqual(request.body);
});

test('TypeScript: the body is the one that is sent', () => {
  const text = SNIPPETS.typescript.write(request);
  const body = text.slice(text.indexOf('create(') + 7, text.indexOf(');\nconsole'));
  expect(JSON.parse(body)).toEqual(request.body);
  expect(text).toContain('baseURL: "http://127.0.0.1:8484/api/v1"');
});

test('Python: arguments that the client does not know go into extra_body', () => {
  expect(SNIPPETS.python.write(request)).toBe(`import os
from openai import OpenAI

client = OpenAI(base_url="http://127.0.0.1:8484/api/v1", api_key=os.environ["WHETSTONE_API_KEY"])
answer = client.chat.completions.create(
    model="default/p/m@3",
    messages=[
        {
            "role": "user",
            "content": "It's \\"$HOME\\" \`x\` 🎈\\n",
        },
    ],
    temperature=0.5,
    stop=[],
    tools=None,
    extra_body={
        "min_p": 0.1,
        "ignore_eos": True,
    },
)
print(answer.choices[0].message)
`);
});

test('no snippet contains a key', () => {
  for (const { write } of Object.values(SNIPPETS)) expect(write(request)).toContain('WHETSTONE_API_KEY');
});
