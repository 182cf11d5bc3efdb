// Checks a file of training data with the text side of the first model, for `whetstone data check`. Loads no weights and no engine; a model
// of the Hub needs only its tokenizer and configuration.
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileChunks } from '#base/file-chunks';
import { silentLog } from '#base/log';
import { UNWATCHED } from '#model-files/hub-download';
import { resolveModelDirectory } from '#model-files/resolve-model';
import type { ServerConfig } from '#config/server-config';
import { STARTER_DIRECTORY } from '#config/starter-directory';
import { checkData, isTrainable, type CheckRequest, type DataReport } from '#services/jobs/data/check-data';
import { readTextModel } from '#text/text-model';

export interface CheckFileRequest extends CheckRequest {
  readonly file: string;
  /** Of the file. Not called for a pipe, whose length nobody knows. */
  readonly onBytes?: (done: number, of: number) => void;
}

export interface DataCheck {
  readonly report: DataReport;
  /** Whether a job would take every line. */
  readonly isTrainable: boolean;
}

/** Throws as resolveModelDirectory and readTextModel, and what reading the file throws. */
export async function checkDataFile(
  { file, onBytes, ...request }: CheckFileRequest,
  { models, chatTemplate, hub }: Pick<ServerConfig, 'models' | 'chatTemplate' | 'hub'>,
): Promise<DataCheck> {
  const ggufDirectory = await mkdtemp(join(tmpdir(), 'whetstone-check-'));
  try {
    const { id, directory } = await resolveModelDirectory(models[0]!, {
      starterDirectory: STARTER_DIRECTORY,
      ggufDirectory,
      hub,
      progress: UNWATCHED,
      log: silentLog,
      parts: 'without weights',
      signal: AbortSignal.timeout(hub.downloadMs),
    });
    const text = await readTextModel(directory, undefined, undefined, chatTemplate);
    const report = await checkData(countedChunks(file, onBytes), { id, text }, request);
    return { report, isTrainable: isTrainable(report) };
  } finally {
    await rm(ggufDirectory, { recursive: true, force: true });
  }
}

async function* countedChunks(file: string, onBytes: CheckFileRequest['onBytes']): AsyncGenerator<Buffer> {
  const info = await stat(file);
  let done = 0;
  for await (const chunk of fileChunks(file)) {
    yield chunk;
    done += chunk.length;
    if (info.isFile()) onBytes?.(done, info.size);
  }
}
