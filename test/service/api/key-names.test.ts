// Names of keys are shown in lists and on terminals.
import { expect, test } from 'vitest';
import { send, shareTestServer } from '../../support/api/test-server.ts';

const server = await shareTestServer();

test.each(['a\u001b[31m', 'a\u202eb', '\u0085'])('the name %j of a key is refused', async (name) => {
  const response = await send(server, { url: '/v1/keys', body: { name } });
  expect([response.statusCode, response.body]).toEqual([422, expect.stringContaining('direction of writing')]);
});
