// A WebhookStore that encrypts its secrets, so that nobody who reads the database can sign with them. Secrets that an older version
// stored in plain text, or that were sealed with an older key, are sealed again when the store is prepared.
import type { Log } from '#base/log';
import type { SecretBox } from '#base/secret-box';
import { AppError } from '#domain/errors';
import type { WebhookStore } from './webhook-store.ts';

const TODO =
  'start the server with the WHETSTONE_SECRET_KEY or the secret.key that sealed it, or create the webhook again';

export async function prepareSealedWebhooks(store: WebhookStore, box: SecretBox, log: Log): Promise<WebhookStore> {
  await store.rewriteSecrets(({ id, secret }) => {
    if (box.isSealed(secret, id)) return secret;
    const plain = box.open(secret, id);
    return plain === null ? secret : box.seal(plain, id); // null: only a server with that key can read it
  });

  return {
    ...store,
    create: (webhook, max) => store.create({ ...webhook, secret: box.seal(webhook.secret, webhook.id) }, max),
    // A delivery whose key is lost does not block others: it is due again after its lease, for a server that has the key.
    claimDue: async (...due) =>
      (await store.claimDue(...due)).flatMap(({ delivery, webhook }) => {
        const secret = box.open(webhook.secret, webhook.id);
        if (secret !== null) return [{ delivery, webhook: { ...webhook, secret } }];
        log.error('webhook.key_lost', { webhookId: webhook.id, todo: TODO });
        return [];
      }),
  };
}

/** Without a key: webhooks of an older version continue to work, new ones are refused. */
export function refuseUnsealedWebhooks(store: WebhookStore, log: Log): WebhookStore {
  log.warn('webhooks.not_sealed', { todo: 'set WHETSTONE_SECRET_KEY, the same for all servers of this database' });
  return {
    ...store,
    async create() {
      throw new AppError(
        'invalid_request',
        'This server has no key to encrypt the secret of a webhook. Ask its operator to set WHETSTONE_SECRET_KEY, the same for all servers of the database.',
      );
    },
  };
}
