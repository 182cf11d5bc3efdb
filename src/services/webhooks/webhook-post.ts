// Sends one POST to an untrusted receiver. Not fetch(): addresses are checked in the lookup of the connection itself, so that a name cannot
// resolve to one address for the check and to another for the call. Redirects are not followed, and only the status of the answer
// counts.
import { lookup, type LookupAddress, type LookupAllOptions } from 'node:dns';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { WebhookAddresses } from './webhook-address.ts';

/** Returns the status; throws if there is no answer. */
export type PostWebhook = (
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  signal: AbortSignal,
) => Promise<number>;

/** As `dns.lookup`. */
export type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** How much of the answer is read, so that an ordinary receiver can finish; it is never used. */
const ANSWER_BYTES_MAX = 1_024;

export function createWebhookPost(addresses: WebhookAddresses, resolveName: Resolve = lookup): PostWebhook {
  const checkedLookup = checked(addresses, resolveName);
  return (url, headers, body, signal) =>
    new Promise((resolve, reject) => {
      if (addresses.isRefusedHost(new URL(url).hostname)) throw new RefusedAddress();
      const send = url.startsWith('https:') ? httpsRequest : httpRequest;
      const length = String(Buffer.byteLength(body));
      const request = send(url, {
        method: 'POST',
        headers: { ...headers, 'content-length': length },
        agent: false,
        lookup: checkedLookup,
        signal,
      });
      request.on('response', (response) => {
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > ANSWER_BYTES_MAX) response.destroy();
        });
        response.on('error', () => {}); // cut off, perhaps by us: the status has arrived
        response.on('close', () => resolve(response.statusCode!));
      });
      request.on('error', reject);
      request.on('close', () => reject(new Error('closed without an answer'))); // no effect if there was one
      request.end(body);
    });
}

class RefusedAddress extends Error {
  readonly code = 'REFUSED_ADDRESS';
}

const checked =
  ({ isRefusedAddress }: WebhookAddresses, resolveName: Resolve): LookupFunction =>
  (hostname, options, callback) => {
    resolveName(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '');
      const permitted = addresses.filter(({ address }) => !isRefusedAddress(address));
      if (permitted.length === 0) return callback(new RefusedAddress(), '');
      if (options.all) return callback(null, permitted);
      callback(null, permitted[0]!.address, permitted[0]!.family);
    });
  };

/** For the operator's log. The delivery log, which the webhook's owner reads, reveals nothing about the network around the server. */
export function kindOfFailure(error: unknown): string {
  const { name, code } = error as { name?: string; code?: string };
  if (name === 'TimeoutError' || name === 'AbortError' || code === 'ETIMEDOUT') return 'timed out';
  if (code === 'REFUSED_ADDRESS') return 'an address where webhooks may not go';
  if (code === 'ECONNREFUSED') return 'connection refused';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'name not found';
  if (
    code?.startsWith('CERT_') ||
    code?.includes('SELF_SIGNED') ||
    code?.startsWith('UNABLE_TO_') ||
    code?.startsWith('ERR_TLS_')
  )
    return 'certificate not trusted';
  return 'connection failed';
}
