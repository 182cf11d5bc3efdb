// The saved weights of a Tinker training run as the API gives them out: steps of a model that is named after the run.
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { extract } from 'tar-stream';
import type { Client } from '#client/client';

/** SHA-256 of adapter_model.safetensors of a model's step. */
export async function digestOfModel(
  client: Client,
  model: { readonly project: string; readonly name: string },
  step: number,
): Promise<string> {
  for await (const { id } of client.listModels(model)) {
    const tar = Readable.from((await client.downloadCheckpoint(id, step)).content).pipe(extract());
    const files = new Map<string, Buffer>();
    for await (const entry of tar) files.set(entry.header.name, await buffer(entry));
    return createHash('sha256').update(files.get('adapter_model.safetensors')!).digest('hex');
  }
  throw new Error(`no step ${step} of ${model.name}`);
}

export const digestOfRun = (client: Client, runId: string, step: number): Promise<string> =>
  digestOfModel(client, { project: 'tinker', name: runId.replace(':train:', '-') }, step);
