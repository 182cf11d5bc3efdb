// Downloads a checkpoint as a file. A link could not send the key; the browser holds the data until it is saved.
import { send } from '../api/client.ts';
import type { Model } from '../api/wire.ts';
import { saveFile } from '../ui/save-file.ts';

/** Throws ApiError. */
export async function downloadCheckpoint({ id, name }: Model, step: number): Promise<void> {
  const path = { model_id: id, step };
  const response = await send('get', '/v1/preview/models/{model_id}/checkpoints/{step}/download', { path });
  saveFile(await response.blob(), `${name}-step${step}.tar`);
}
