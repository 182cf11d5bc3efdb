// The rewards of each prompt of a step, and whether they improved since another step. Prompts are matched by their text and by the
// client's metadata of their group: games whose prompt is always the same are distinguished by their secret.
import { listAll } from '../api/pages.ts';
import type { Group } from '../groups/group-data.ts';
import type { Source } from './sources.ts';

export interface PromptRow {
  readonly key: string;
  readonly source: Source;
  readonly group: Group;
  readonly mean: number;
  readonly best: number;
  readonly worst: number;
  /** Mean reward of the same prompt at the compared step; null: that step lacks the prompt. */
  readonly before: number | null;
}

export interface PlacedGroup {
  readonly source: Source;
  readonly group: Group;
}

export async function readGroups(
  sources: readonly Source[],
  modelId: string,
  signal: AbortSignal,
): Promise<PlacedGroup[]> {
  const groups: PlacedGroup[] = [];
  for (const source of sources) {
    const listed: AsyncIterable<Group> =
      source.kind === 'job'
        ? listAll('/v1/preview/training-jobs/{training_job_id}/groups', {
            path: { training_job_id: source.id },
            signal,
          })
        : listAll('/v1/preview/models/{model_id}/logs/{log_id}/groups', {
            path: { model_id: modelId, log_id: source.id },
            signal,
          });
    for await (const group of listed) groups.push({ source, group });
  }
  return groups;
}

/** Groups without rewards are left out. */
export function promptRows(groups: readonly PlacedGroup[], before: readonly PlacedGroup[]): PromptRow[] {
  const earlier = new Map<string, number[]>();
  for (const { group } of before)
    earlier.set(identityOf(group), [...(earlier.get(identityOf(group)) ?? []), ...group.rewards]);
  return groups
    .filter(({ group }) => group.rewards.length > 0)
    .map(({ source, group }) => ({
      key: `${source.id}/${group.index}`,
      source,
      group,
      mean: mean(group.rewards),
      best: Math.max(...group.rewards),
      worst: Math.min(...group.rewards),
      before: earlier.has(identityOf(group)) ? mean(earlier.get(identityOf(group))!) : null,
    }));
}

const identityOf = ({ prompt, metadata }: Group): string => JSON.stringify([prompt, metadata]);
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value / values.length, 0);
