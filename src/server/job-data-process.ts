// Entry point of the process that reads the data of training jobs, one job at a time (server/job-data-child.ts). It has the
// text side of one base model and nothing else; it ends when the channel to the server closes.
import { AppError } from '#domain/errors';
import { lowerPriority } from '#base/lower-priority';
import { invariant } from '#base/invariant';
import type { FromReader, ToReader } from './job-data-child.ts';
import { createConversationEncoder } from '#services/jobs/data/conversation-encoder';
import { readJobData } from '#services/jobs/data/read-job-data';
import { readTextModel } from '#text/text-model';

const [directory, id, vocabSize, template = ''] = process.argv.slice(2);
invariant(process.send && directory && id, 'a process that reads job data must be started by fork');

lowerPriority();
process.on('SIGINT', () => {}); // sent to the whole process group: this process ends with its channel instead
process.on('SIGTERM', () => {});
process.on('disconnect', () => process.exit(0));

const encoder = readTextModel(directory, undefined, undefined, template || null).then((text) =>
  createConversationEncoder(id, text, Number(vocabSize)),
);
encoder.catch(() => {}); // the first call reports it

let answered: (message: ToReader) => void = (message) => void read(message);

const say = (message: FromReader): void => void process.send!(message, () => {});

function ask(message: FromReader): Promise<ToReader> {
  const answer = new Promise<ToReader>((resolve) => (answered = resolve));
  say(message);
  return answer;
}

process.on('message', (message: ToReader) => answered(message));

async function read(message: ToReader): Promise<void> {
  invariant('kind' in message, 'the first message to a reader must be a request');
  try {
    const put = async (piece: unknown) => void (await ask({ piece }));
    // The sender has checked which call belongs to which kind.
    const readKind = readJobData[message.kind] as (...args: unknown[]) => Promise<unknown>;
    const result = await readKind(message.call, content(), await encoder, put);
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
    invariant('chunk' in message, 'a reader that asks for more gets a chunk');
    if (message.chunk === null) return;
    yield message.chunk;
  }
}
