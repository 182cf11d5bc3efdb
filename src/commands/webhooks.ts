// `whetstone webhooks`: which URLs the server calls when jobs end or episodes get rewards, and what came of the calls.
import { InvalidArgumentError, type Command } from 'commander';
import type { Webhook, WebhookDelivery, WebhookEvent } from '#client/client';
import { AppError } from '#domain/errors';
import { JOB_EVENTS, WEBHOOK_EVENTS } from '#domain/webhook';
import { wholeNumber } from './numbers.ts';
import {
  all,
  confirm,
  note,
  printable,
  show,
  table,
  withJson,
  withYes,
  type JsonFlag,
  type YesFlag,
} from './output.ts';
import type { Remote, RemoteFlags } from './remote.ts';
import { ago } from './times.ts';

type Flags = RemoteFlags & JsonFlag;

export function addWebhooks(program: Command, remote: Remote): void {
  const webhooks = program
    .command('webhooks')
    .description(
      'URLs that the server calls when a job ends or an episode gets a reward; needs a key with the scope admin',
    );

  withJson(remote.command(webhooks, 'create <url>'))
    .description('have a URL called, and print the secret that verifies the calls, which is shown only once')
    .option(
      '--events <list>',
      `call it for these: a comma-separated list of ${WEBHOOK_EVENTS.join(', ')}`,
      readEvents,
      [...JOB_EVENTS],
    )
    .action(async (url: string, { events, ...flags }: Flags & { events: WebhookEvent[] }) => {
      const made = await remote.connect(flags).createWebhook({ url, events });
      if (!flags.json)
        note(`The webhook ${made.id} is called for ${made.events.join(', ')}. Its secret, which is shown only now:`);
      show(flags, made, ({ secret }) => [secret]);
    });

  withJson(remote.command(webhooks, 'list'))
    .alias('ls')
    .description('list the webhooks of your team')
    .action(async (flags: Flags) => {
      show(flags, await remote.connect(flags).listWebhooks(), (list) =>
        table('No webhooks.', ['ID', 'URL', 'EVENTS', 'CREATED', 'DISABLED'], list.map(cellsOf)),
      );
    });

  withYes(withJson(remote.command(webhooks, 'rm <id>')))
    .description('delete a webhook, with the record of its calls; calls that are still to be made are not')
    .action(async (id: string, { yes = false, ...flags }: Flags & YesFlag) => {
      const client = remote.connect(flags);
      const webhook = (await client.listWebhooks()).find((each) => each.id === id);
      if (!webhook) throw new AppError('not_found', `No webhook ${id}. List them with \`whetstone webhooks list\`.`);
      await confirm({ yes }, `Delete the webhook ${id} (${printable(webhook.url)}) and the record of its calls?`);
      show(flags, await client.deleteWebhook(id), () => [`deleted ${id}`]);
    });

  withJson(remote.command(webhooks, 'deliveries <id>'))
    .description('list the newest calls of a webhook and what came back; those of the last 30 days are kept')
    .option('--limit <count>', 'maximum number of calls to show', wholeNumber(1), 20)
    .action(async (id: string, { limit, ...flags }: Flags & { limit: number }) => {
      const found = await all(remote.connect(flags).listWebhookDeliveries(id), limit + 1);
      show(flags, found.slice(0, limit), (list) => table('No calls yet.', DELIVERY_HEADER, list.map(cellsOfDelivery)));
      if (found.length > limit) note(`Only the newest ${limit}: show more with --limit.`);
    });

  withJson(remote.command(webhooks, 'redeliver <id> <delivery-id>'))
    .description('make a call again now, with the same webhook-id; `whetstone webhooks deliveries` shows the ids')
    .action(async (id: string, deliveryId: string, flags: Flags) => {
      show(flags, await remote.connect(flags).redeliverWebhook(id, deliveryId), (delivery) => [
        `${delivery.id} is sent again.`,
      ]);
    });
}

function readEvents(text: string): WebhookEvent[] {
  const events = text.split(',').map((name) => WEBHOOK_EVENTS.find((known) => known === name));
  if (events.every((event) => event !== undefined)) return events;
  throw new InvalidArgumentError(`It must be a comma-separated list of ${WEBHOOK_EVENTS.join(', ')}.`);
}

const cellsOf = ({ id, url, events, created_at: made, disabled_at: disabled }: Webhook): string[] => [
  ...[id, printable(url), events.join(',')],
  ago(made),
  disabled === null ? '-' : `${ago(disabled)}, by its answer 410`,
];

const DELIVERY_HEADER = ['ID', 'EVENT', 'OF', 'STATUS', 'ATTEMPTS', 'LAST ANSWER', 'CREATED'];

const cellsOfDelivery = (delivery: WebhookDelivery): string[] => [
  ...[delivery.id, delivery.event, delivery.training_job_id ?? delivery.episode_id ?? '-'],
  ...[delivery.status, String(delivery.attempts), lastAnswer(delivery)],
  ago(delivery.created_at),
];

const lastAnswer = ({ last_status: status, last_error: error }: WebhookDelivery): string =>
  status === null ? printable(error ?? '-') : String(status);
