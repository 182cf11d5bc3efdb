// Chat templates sent with a request, and variables of the model's own template.
import { afterAll, beforeAll, describe } from 'vitest';
import { chat, containing, openTestServer, runScenarios, type TestServer } from '../../support/api/test-server.ts';

const url = '/v1/chat/completions';
const prompt = (server: TestServer, body: string) =>
  server.model.text.tokenizer.decode((JSON.parse(body) as { prompt_token_ids: number[] }).prompt_token_ids);
const template = '{{ messages[0].content }}|{{ mood }}|{{ documents[0].title }}|';
const body = (fields: object) => chat({ return_token_ids: true, ...fields });

describe('a server that does not trust templates', () => {
  let server: TestServer;
  beforeAll(async () => (server = await openTestServer()));
  afterAll(() => server.close());
  runScenarios(
    () => server,
    [
      {
        name: 'refuses one, and says how to allow them',
        url,
        body: body({ chat_template: template }),
        status: 400,
        answer: { error: { param: 'chat_template', message: containing('--trust-request-chat-template') } },
      },
      {
        name: 'refuses one in chat_template_kwargs',
        url,
        body: body({ chat_template_kwargs: { chat_template: template } }),
        status: 400,
        answer: { error: { param: 'chat_template' } },
      },
      {
        name: 'refuses fields of the request among the variables, where they would be without effect',
        url,
        body: body({ chat_template_kwargs: { messages: [] } }),
        status: 400,
        answer: { error: { param: 'chat_template_kwargs', message: containing('Send messages as a field') } },
      },
      {
        name: 'drops variables that the model’s template does not read',
        url,
        body: body({ chat_template_kwargs: { nobody_reads_this: 1 } }),
        status: 200,
      },
    ],
  );
});

describe('a server that trusts templates', () => {
  let server: TestServer;
  beforeAll(async () => (server = await openTestServer({ acceptsTemplates: true })));
  afterAll(() => server.close());
  runScenarios(
    () => server,
    [
      {
        name: 'renders it with its variables and documents',
        url,
        body: body({
          chat_template: template,
          chat_template_kwargs: { mood: 'good' },
          documents: [{ title: 'Facts', text: 'none' }],
        }),
        status: 200,
        then: (response, opened) => {
          const text = prompt(opened, response.body);
          if (text !== 'Say something.|good|Facts|') throw new Error(text);
        },
      },
      {
        name: 'takes a null among its variables for the default, and a field of the request for more than a variable',
        url,
        body: body({
          chat_template: `{{ mood is defined }}|{{ enable_thinking }}|{{ reasoning_effort }}|{{ documents[0].title }}`,
          chat_template_kwargs: {
            mood: null,
            enable_thinking: false,
            reasoning_effort: 'low',
            documents: [{ title: 'Other' }],
          },
          reasoning_effort: 'high',
          documents: [{ title: 'Facts', text: 'none' }],
        }),
        status: 200,
        then: (response, opened) => {
          const text = prompt(opened, response.body);
          if (text !== 'False|False|high|Facts') throw new Error(text);
        },
      },
      {
        name: 'stops one that never ends',
        url,
        body: body({ chat_template: '{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}' }),
        status: 400,
        answer: { error: { param: 'chat_template', message: containing('steps') } },
      },
      {
        name: 'names what is wrong with one',
        url,
        body: body({ chat_template: '{% if %}' }),
        status: 400,
        answer: { error: { param: 'chat_template' } },
      },
    ],
  );
});
