// What `whetstone serve` prints on a terminal once it listens.
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { nextSteps } from './serve.ts';

type Server = Parameters<typeof nextSteps>[0];
const said = (server: Omit<Server, 'data'> & Partial<Server>) => nextSteps({ data: null, ...server }).join('\n');

test('on this machine the link opens the dashboard signed in, also at later starts', () => {
  const own = { url: 'http://127.0.0.1:9000', firstKey: null, localKey: 'wk-a_b' };
  expect(said(own)).toContain('http://127.0.0.1:9000/#key=wk-a_b');
});

test('a link that others could read, or a server without a local key, shows no key', () => {
  expect(said({ url: 'http://10.0.0.7:8484', firstKey: null, localKey: 'wk-a' })).not.toContain('wk-a');
  expect(said({ url: 'http://127.0.0.1:8484', firstKey: null, localKey: null })).toContain('http://127.0.0.1:8484/\n');
});

test('the commands of other terminals are told where the data is, if only --data said it', () => {
  const server = { url: 'http://127.0.0.1:9000', firstKey: 'wk-a', localKey: 'wk-a' };
  expect(said(server)).not.toContain('WHETSTONE_DATA');
  expect(said({ ...server, data: '/srv/my data' })).toContain("\n  export WHETSTONE_DATA='/srv/my data'\n");
  expect(said({ ...server, data: 'there' })).toContain(`\n  export WHETSTONE_DATA=${resolve('there')}\n`);
});
