// What a run sends while it is running: history lines, the summary, and its end. Console output, system metrics and file names are
// dropped: they describe the machine, not the run.
import { z } from 'zod';
import type { RunAbout } from '#domain/run';
import type { RunPiece } from '#services/runs/runs';

const piece = z.looseObject({
  offset: z.int().min(0).default(0).describe('Number of the first line, from 0.'),
  content: z.array(z.string()).default([]).describe('The lines, each a JSON object as text.'),
});

export const fileStream = z.looseObject({
  files: z
    .looseObject({
      'wandb-history.jsonl': piece.optional().describe('Lines of the history: one JSON object per step.'),
      'wandb-summary.json': piece.optional().describe('The summary; only the last line is used.'),
    })
    .nullish()
    .describe('By file name: lines, and the number of the first line.'),
  complete: z.boolean().nullish().describe('Whether the run has ended; null: not yet.'),
  exitcode: z.int().nullish().describe('Exit code of the process; null: 0 if the run has ended.'),
});

export function toRunPiece({ files, complete, exitcode }: z.output<typeof fileStream>): RunPiece {
  const history = files?.['wandb-history.jsonl'];
  const summary = files?.['wandb-summary.json']?.content.at(-1);
  const change: Partial<RunAbout> = {
    ...(summary === undefined ? {} : { summary }),
    ...(complete ? { state: (exitcode ?? 0) === 0 ? 'finished' : 'failed', exitCode: exitcode ?? 0 } : {}),
  };
  return { offset: history?.offset ?? 0, lines: history?.content ?? [], change };
}
