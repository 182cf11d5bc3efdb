// Which steps of a model answered held-out prompts, and the address where those answers are shown.
import type { Item } from '../api/client.ts';
import { listAll } from '../api/pages.ts';
import { hrefTo } from '../router.ts';
import { counted } from '../ui/numbers.ts';

export type ModelEvaluation = Item<'/v1/preview/models/{model_id}/evaluations'>;
/** Its step is known because its job has begun. */
export type StepEvaluation = ModelEvaluation & { readonly step: number };

export const ANSWERS_PATH = '/models/{id}/answers';

export const answersHref = (modelId: string, step: number, versus?: number): string =>
  hrefTo(ANSWERS_PATH, { id: modelId, step, ...(versus === undefined ? {} : { versus }) });

/** More than most models have: their list comes in one answer. */
const EVALUATIONS_AT_ONCE = 2_000;

/** By step. */
export async function readEvaluations(modelId: string, signal: AbortSignal): Promise<StepEvaluation[]> {
  const found: StepEvaluation[] = [];
  const asked = { path: { model_id: modelId }, query: { limit: EVALUATIONS_AT_ONCE }, signal };
  for await (const evaluation of listAll('/v1/preview/models/{model_id}/evaluations', asked))
    if (evaluation.step !== null) found.push({ ...evaluation, step: evaluation.step });
  return found.sort((a, b) => a.step - b.step);
}

export const hasEnded = ({ status }: Pick<ModelEvaluation, 'status'>): boolean =>
  status !== 'queued' && status !== 'running';

/** `12 of 20 prompts answered`, and how many failed. */
export function progressOf(
  evaluation: Pick<ModelEvaluation, 'status' | 'num_answered' | 'num_prompts' | 'num_failed'>,
): string {
  const { num_answered: answered, num_prompts: all, num_failed: failed } = evaluation;
  const parts = [`${answered} of ${counted(all, 'prompt')} answered`];
  if (failed > 0) parts.push(`${failed} failed`);
  return parts.join(', ');
}
