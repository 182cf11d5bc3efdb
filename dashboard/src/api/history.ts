// The history of a model: all its steps in one answer, a line each, instead of a page after another.
import { send } from './client.ts';
import { readJsonLines } from './json-lines.ts';
import type { HistoryStep } from './wire.ts';

export async function readHistory(model_id: string, signal: AbortSignal): Promise<HistoryStep[]> {
  const steps: HistoryStep[] = [];
  const { body } = await send('get', '/v1/preview/models/{model_id}/metrics', {
    path: { model_id },
    query: { format: 'jsonl' },
    signal,
  });
  for await (const rows of readJsonLines<HistoryStep>(body!)) steps.push(...rows);
  return steps;
}
