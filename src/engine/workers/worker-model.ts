// Decides whether both ends of a connection have the same model: compares the bytes of its configuration and of its tokenizer.
import { join } from 'node:path';
import { fileChunks } from '#base/file-chunks';
import { digestOf } from '#base/stream-digest';
import { readDecoderConfig } from '#model-files/decoder-config';
import type { WorkerModel } from './handshake.ts';

/** Does not read the weights. Throws `bad_model_files`. */
export async function readWorkerModel(id: string, directory: string): Promise<WorkerModel> {
  const { maxPositions: contextLength, vocab: vocabSize } = await readDecoderConfig(directory);
  const hashOf = async (name: string) => (await digestOf(fileChunks(join(directory, name)))).sha256;
  const [configSha256, tokenizerSha256] = await Promise.all([hashOf('config.json'), hashOf('tokenizer.json')]);
  return { id, configSha256, tokenizerSha256, contextLength, vocabSize };
}
