// Entry point of the thread that makes the long prompts of one model directory, one at a time, in order of arrival.
import { parentPort, workerData } from 'node:worker_threads';
import { lowerPriority } from '#base/lower-priority';
import { notePythonForm } from '#base/python-form';
import { AppError } from '#domain/errors';
import { readTextModel } from '../text-model.ts';
import { makePrompt, type PromptCall } from './make-prompt.ts';
import type { FromPromptThread, PromptFiles, ToPromptThread } from './prompts.ts';

lowerPriority();
const port = parentPort!;
const { directory, template } = workerData as PromptFiles;
const model = readTextModel(directory, undefined, undefined, template);
port.on('message', ({ call, forms }: ToPromptThread) => {
  for (const [value, form] of forms) notePythonForm(value, form);
  void make(call).then((made) => port.postMessage(made));
});

async function make(call: PromptCall): Promise<FromPromptThread> {
  try {
    const { text, tokens } = makePrompt(await model, call);
    return { text, tokens: tokens && Int32Array.from(tokens) };
  } catch (error) {
    const { code, message, param } = error instanceof AppError ? error : new AppError('internal', String(error));
    return { code, message, param };
  }
}
