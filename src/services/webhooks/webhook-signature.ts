// The headers by which a receiver verifies that a call is authentic, recent, and not a repeat: the Standard Webhooks scheme
// (https://www.standardwebhooks.com), which its libraries and OpenAI's clients verify.
import { createHmac } from 'node:crypto';

const SECRET_PREFIX = 'whsec_';

export function signedHeaders(secret: string, id: string, body: string, nowMs: number): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1000));
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}
