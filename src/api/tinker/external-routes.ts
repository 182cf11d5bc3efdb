// External weights: the files of a PEFT directory, each under a URL that needs no key, as the cookbook downloads them.
import { AppError } from '#domain/errors';
import { LINKS_VALID_MS, type SignedLinks } from '#services/accounts/signed-links';
import type { ApiServices } from '../http/api-services.ts';
import { whenOver } from '../http/ended-answers.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { ownAddress } from '../http/own-address.ts';
import * as answers from './tinker-answers.ts';
import { TINKER_PREFIX, tinkerRoute } from './tinker-endpoint.ts';
import * as wire from './tinker-schema.ts';

const FILES_PATH = `${TINKER_PREFIX}/external_files`;
/** A link gives access to one file of one path. */
const PERMISSION = /^tinker-file (\S+) (\S+)$/;

export function externalRoutes(
  { tinker: { saves }, accountLimits, clock }: Pick<ApiServices, 'tinker' | 'accountLimits' | 'clock'>,
  links: SignedLinks,
  basePath: string,
): Endpoint[] {
  return [
    tinkerRoute('GET /training_runs/{run_id}/checkpoints/external_weights/{name}/external_weights_urls', {
      summary: 'Create a URL for each file of saved external weights. The URLs are valid for a day',
      access: 'read',
      errors: [404],
      answer: answers.fileUrls,
      async handle({ caller, params, request }) {
        const path = `tinker://${params['run_id']}/external_weights/${params['name']}`;
        const files = await saves.listFiles(caller.entity, path);
        const expires = new Date(clock.now() + LINKS_VALID_MS).toISOString();
        const sign = await links.signer(caller);
        const url = (file: string) =>
          `${ownAddress(request, basePath)}${FILES_PATH}?link=${sign(`tinker-file ${path} ${file}`)}`;
        return { urls: Object.fromEntries(files.map((file) => [file, url(file)])), expires };
      },
    }),
    endpoint({
      method: 'GET',
      path: FILES_PATH,
      tag: 'Tinker',
      summary: 'Download the file of a link',
      access: 'public',
      errors: [403, 404],
      dialect: 'tinker',
      query: wire.linkQuery,
      answer: ['application/octet-stream'],
      async handle({ query: { link }, request, reply }) {
        const { caller, permission } = await links.open(link);
        request.caller = caller;
        whenOver(reply.raw, await accountLimits.admit(caller));
        const [, path, file] = PERMISSION.exec(permission) ?? [];
        if (!path || !file) throw new AppError('link_refused', 'This link is not for a file of saved weights.');
        return reply.type('application/octet-stream').send(await saves.readFile(caller.entity, path, file));
      },
    }),
  ];
}
