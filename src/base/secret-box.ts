// Encrypts secrets that must be readable again, with a key that is stored elsewhere: AES-256-GCM. `about` names the owner and is
// authenticated, so a sealed text that is copied to another row does not open there.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

export const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const PREFIX = 'sealed:';

export interface SecretBox {
  seal(secret: string, about: string): string;
  /** Returns text that was never sealed unchanged, and null if none of these keys opens it. */
  open(text: string, about: string): string | null;
  /** Whether it was sealed with the key that now seals. */
  isSealed(text: string, about: string): boolean;
}

/** The first key seals; all of them open. */
export function createSecretBox(keys: readonly [Buffer, ...Buffer[]]): SecretBox {
  return {
    seal(secret, about) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', keys[0], nonce).setAAD(Buffer.from(about));
      const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return `${PREFIX}${Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64')}`;
    },
    open(text, about) {
      if (!text.startsWith(PREFIX)) return text;
      for (const key of keys) {
        const secret = unsealWith(key, text, about);
        if (secret !== null) return secret;
      }
      return null;
    },
    isSealed: (text, about) => text.startsWith(PREFIX) && unsealWith(keys[0], text, about) !== null,
  };
}

function unsealWith(key: Buffer, text: string, about: string): string | null {
  const bytes = Buffer.from(text.slice(PREFIX.length), 'base64');
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(about)).setAuthTag(tag);
    return decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    return null; // sealed with another key, or not a sealed text
  }
}
