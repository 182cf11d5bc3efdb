// The saved weights of a Tinker training run as the API gives them out: steps of a model that is named after the run.
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { extract } from 'tar-stream';
import type { Client } from '#client/client';

/** adapter_model.safetensors of a model's step. */
async function adapterOf(
  client: Client,
  model: { readonly project: string; readonly name: string },
  step: number,
): Promise<Buffer> {
  for await (const { id } of client.listModels(model)) {
    const tar = Readable.from((await client.downloadCheckpoint(id, step)).content).pipe(extract());
    const files = new Map<string, Buffer>();
    for await (const entry of tar) files.set(entry.header.name, await buffer(entry));
    return files.get('adapter_model.safetensors')!;
  }
  throw new Error(`no step ${step} of ${model.name}`);
}

const modelOfRun = (runId: string) => ({ project: 'tinker', name: runId.replace(':train:', '-') });

const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

export const digestOfRun = async (client: Client, runId: string, step: number): Promise<string> =>
  digestOf(await adapterOf(client, modelOfRun(runId), step));
