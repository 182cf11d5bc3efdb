// Entry of the process in which the data of training jobs is read, one job at a time (server/job-data-child.ts). It has the
// text side of one base model and nothing else; an idle one ends with the channel to the server.
import { AppError } from '#domain/errors';
import { lowerPriority } from '#base/lower-priority';
import { invariant } from '#base/invariant';
import { readPreferencePair } from '#api/schema/dpo';
import { readSftLine } from '#api/schema/sft';
import type { FromReader, ToReader } from './server/job-data-child.ts';
import { createConversationEncoder } from '#services/jobs/conversation-encoder';
import { readJobData, type DataTools } from '#services/jobs/read-job-data';
import { readTextModel } from '#text/text-model';

const [directory, id, vocabSize, template = ''] = process.argv.slice(2);
invariant(process.send && directory && id, 'a process that reads job data is started by fork');

lowerPriority();
process.on('SIGINT', () => {}); // of the process group: ours to handle is the end of the channel
process.on('SIGTERM', () => {});
process.on('disconnect', () => process.exit(0));

const tools: Promise<DataTools> = readTextModel(directory, undefined, undefined, template || null).then((text) => ({
  encoder: createConversationEncoder(id, text, Number(vocabSize)),
  readSftLine,
  readPairLine: readPreferencePair,
}));
tools.catch(() => {}); // told with the first call

let answered: (message: ToReader) => void = (message) => void read(message);

const say = (message: FromReader): void => void process.send!(message, () => {});

function ask(message: FromReader): Promise<ToReader> {
  const answer = new Promise<ToReader>((resolve) => (answered = resolve));
  say(message);
  return answer;
}

process.on('message', (message: ToReader) => answered(message));

async function read(message: ToReader): Promise<void> {
  invariant('kind' in message, 'a reader is asked for something first');
  try {
    const put = async (piece: unknown) => void (await ask({ piece }));
    // Which call belongs to which kind was checked where it was sent.
    const readKind = readJobData[message.kind] as (...args: unknown[]) => Promise<unknown>;
    const result = await readKind(message.call, content(), await tools, put);
    answered = (next) => void read(next);
    say({ result });
  } catch (error) {
    const { code, message, param } = error instanceof AppError ? error : new AppError('internal', String(error));
    answered = (next) => void read(next);
    say({ code, message, param });
  }
}

async function* content(): AsyncGenerator<Uint8Array> {
  for (;;) {
    const message = await ask('more');
    invariant('chunk' in message, 'more was asked for');
    if (message.chunk === null) return;
    yield message.chunk;
  }
}
