// The saved weights of a model, or of a Tinker training run, as the API returns them: steps of a model named after the run.
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { extract } from 'tar-stream';
import type { Client } from '#client/client';

interface ModelName {
  readonly project: string;
  readonly name: string;
}

/** adapter_model.safetensors of a model's step. */
export async function adapterOfModel(client: Client, model: ModelName, step: number): Promise<Buffer> {
  for await (const { id } of client.listModels(model)) {
    const tar = Readable.from((await client.downloadCheckpoint(id, step)).content).pipe(extract());
    const files = new Map<string, Buffer>();
    for await (const entry of tar) files.set(entry.header.name, await buffer(entry));
    return files.get('adapter_model.safetensors')!;
  }
  throw new Error(`no step ${step} of ${model.name}`);
}

export const adapterOfRun = (client: Client, runId: string, step: number): Promise<Buffer> =>
  adapterOfModel(client, { project: 'tinker', name: runId.replace(':train:', '-') }, step);

export const digestOfRun = async (client: Client, runId: string, step: number): Promise<string> =>
  createHash('sha256')
    .update(await adapterOfRun(client, runId, step))
    .digest('hex');

/** The relative difference of two adapters: the norm of their difference divided by that of the first; 0: the same bytes. */
export function adapterDistance(a: Buffer, b: Buffer): number {
  const header = Number(a.readBigUInt64LE(0)) + 8;
  if (!b.subarray(0, header).equals(a.subarray(0, header))) throw new Error('the adapters have other tensors');
  let [difference, size] = [0, 0];
  for (let at = header; at < a.length; at += 4) {
    difference += (a.readFloatLE(at) - b.readFloatLE(at)) ** 2;
    size += a.readFloatLE(at) ** 2;
  }
  return Math.sqrt(difference / size);
}
