// A WebhookStore whose rows hold no secret that anybody who reads the database could sign with. Those that an older version left in
// plain, or that were sealed with an older key, are sealed when it is prepared.
import type { Log } from '#base/log';
import type { SecretBox } from '#base/secret-box';
import { AppError } from '#domain/errors';
import type { WebhookStore } from './webhook-store.ts';

const TODO =
  'start the server with the WHETSTONE_SECRET_KEY or the secret.key that sealed it, or make the webhook anew';

export async function prepareSealedWebhooks(store: WebhookStore, box: SecretBox, log: Log): Promise<WebhookStore> {
  await store.rewriteSecrets(({ id, secret }) => {
    if (box.isSealed(secret, id)) return secret;
    const plain = box.open(secret, id);
    return plain === null ? secret : box.seal(plain, id); // null: a server with that key has it
  });

  return {
    ...store,
    create: (webhook, max) => store.create({ ...webhook, secret: box.seal(webhook.secret, webhook.id) }, max),
    // One whose key is lost holds nobody up: it is due again after its lease, for a server that has the key.
    claimDue: async (...due) =>
      (await store.claimDue(...due)).flatMap(({ delivery, webhook }) => {
        const secret = box.open(webhook.secret, webhook.id);
        if (secret !== null) return [{ delivery, webhook: { ...webhook, secret } }];
        log.error('webhook.key_lost', { webhookId: webhook.id, todo: TODO });
        return [];
      }),
  };
}

/** Without a key: webhooks of an older version go on, new ones are refused. */
export function refuseUnsealedWebhooks(store: WebhookStore, log: Log): WebhookStore {
  log.warn('webhooks.not_sealed', { todo: 'set WHETSTONE_SECRET_KEY, the same for all servers of this database' });
  return {
    ...store,
    async create() {
      throw new AppError(
        'invalid_request',
        'This server has no key to keep the secret of a webhook with. Its operator sets WHETSTONE_SECRET_KEY, the same for all servers of the database.',
      );
    },
  };
}
