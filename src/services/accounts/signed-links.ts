// Signed links: whoever has one may do the one thing that it names, with the rights of the key that it was made for, until it expires or
// the key is revoked. They are signed with a secret derived from the key's stored hash, so that every server of a storage can check
// them and no further secret is stored. The caller defines what a link permits.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '#base/clock';
import type { Caller } from '#domain/caller';
import { AppError } from '#domain/errors';
import type { ApiKeys } from './api-keys.ts';

export interface SignedLinks {
  /** Signs many links at once. */
  signer(caller: Caller): Promise<(permission: string) => string>;
  /** Throws `link_refused`. */
  open(link: string): Promise<{ readonly caller: Caller; readonly permission: string }>;
}

/** Longer than any upload or download takes; one that is resumed gets a new link. */
export const LINKS_VALID_MS = 24 * 60 * 60 * 1000;
const LINK_MAX = 4_096;

export function createSignedLinks(apiKeys: Pick<ApiKeys, 'findSigner'>, clock: Clock): SignedLinks {
  return {
    async signer({ entity, keyId }) {
      const signer = await apiKeys.findSigner(entity, keyId);
      if (!signer) throw refused('its key was revoked');
      const expiresAtMs = clock.now() + LINKS_VALID_MS;
      return (permission) => {
        const text = Buffer.from(JSON.stringify([entity, keyId, expiresAtMs, permission])).toString('base64url');
        return `${text}.${signatureOf(text, signer.secret)}`;
      };
    },

    async open(link) {
      const [text = '', signature = ''] = link.length > LINK_MAX ? [] : link.split('.', 2);
      const claims = readClaims(text);
      if (!claims) throw refused('it is incomplete');
      const [entity, keyId, expiresAtMs, permission] = claims;
      const signer = await apiKeys.findSigner(entity, keyId);
      if (!signer || !isEqual(signature, signatureOf(text, signer.secret)))
        throw refused('its key was revoked, or the link was changed');
      if (clock.now() > expiresAtMs) throw refused('it has expired');
      return { caller: signer.caller, permission };
    },
  };
}

const signatureOf = (text: string, secret: Uint8Array): string =>
  createHmac('sha256', secret).update(text).digest('base64url');

function isEqual(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function readClaims(text: string): [string, string, number, string] | null {
  try {
    const claims: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    const isWhole =
      Array.isArray(claims) &&
      claims.length === 4 &&
      claims.every((claim, at) => typeof claim === (at === 2 ? 'number' : 'string'));
    return isWhole ? (claims as [string, string, number, string]) : null;
  } catch {
    return null;
  }
}

const refused = (why: string): AppError =>
  new AppError('link_refused', `This link is not valid: ${why}. Ask for a new one.`);
