import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { createWebhookSecret } from '#base/ids';
import { signedHeaders } from './webhook-signature.ts';

// The example of the specification, and the one of the reference libraries' tests.
test.each([
  [
    'whsec_plJ3nmyCDGBKInavdOK15jsl',
    'msg_loFOjxBNrRLzqYUf',
    1731705121,
    '{"event_type":"ping","data":{"success":true}}',
    'v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=',
  ],
  [
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    'msg_p5jXN8AQM9LWM0D4loKWxJek',
    1614265330,
    '{"test": 2432232314}',
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  ],
])('signs as Standard Webhooks specifies: %s', (secret, id, seconds, body, signature) => {
  expect(signedHeaders(secret, id, body, seconds * 1000 + 999)).toEqual({
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': signature,
  });
});

test('OpenAI’s client accepts our signature and no other', async () => {
  const { webhooks } = new OpenAI({ apiKey: 'none' });
  const [secret, body] = [createWebhookSecret(), '{"data":{"error_message":"ü"}}'];
  const headers = signedHeaders(secret, 'msg_1', body, Date.now());
  await webhooks.verifySignature(body, headers, secret);
  await expect(webhooks.verifySignature(`${body} `, headers, secret)).rejects.toThrow();
  await expect(webhooks.verifySignature(body, headers, createWebhookSecret())).rejects.toThrow();
});
