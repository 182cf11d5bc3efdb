// Looks for what a server would refuse in the files of `whetstone train`, with the server's own rules, before anything is sent: a bad
// line of a large file is found at once, and named as the user wrote it.
import { counted } from '#base/counted';
import { fileChunks } from '#base/file-chunks';
import { isObject } from '#base/is-object';
import { splitLines } from '#base/lines';
import { AppError } from '#domain/errors';
import { readPreferencePair } from '#rows/dpo';
import { readEvaluationLine } from '#rows/evaluation';
import { problemOf } from '#rows/problem';
import { readSftLine } from '#rows/sft';
import { trajectoryGroup } from '#rows/trajectory';
import { LINE_BYTES_MAX, readText } from '#services/jobs/data/sft-dataset';
import { parse } from '#validation/parse';

const SHOWN = 3;

type Read = object | { readonly problem: string };
const READERS = {
  sft: readSftLine,
  dpo: readPreferencePair,
  evaluation: readEvaluationLine,
} satisfies Record<string, (line: string) => Read>;

interface Problem {
  readonly where: string;
  readonly problem: string;
}

/** A `.jsonl` file with one row per line. Throws `invalid_training_data`. */
export async function refuseBadLines(file: string, kind: keyof typeof READERS): Promise<void> {
  const problems: Problem[] = [];
  let [line, rows] = [0, 0];
  for await (const bytes of splitLines(fileChunks(file), LINE_BYTES_MAX)) {
    const read = readText<Read>(bytes, ++line, READERS[kind]);
    if (read === null) continue;
    rows++;
    if ('problem' in read) problems.push({ where: `line ${line}`, problem: read.problem });
  }
  const advice =
    kind === 'evaluation' ? '' : ` All problems: whetstone data check ${kind === 'dpo' ? '--dpo ' : ''}${file}`;
  if (problems.length > 0) throw refusal(file, counted(problems.length, 'line'), problems, advice);
  if (rows === 0) throw new AppError('invalid_training_data', `${file} has no rows. Nothing was sent.`);
}

/** The body of an RL job. Throws `invalid_training_data`. */
export function refuseBadGroups(file: string, body: unknown): void {
  const isJob = isObject(body) && ('trajectory_groups' in body || 'episode_groups' in body);
  if (!isJob)
    throw new AppError(
      'invalid_training_data',
      `${file} must be an object with trajectory_groups or episode_groups, for RL. Rows for SFT and DPO belong into a .jsonl file, one on each line. Nothing was sent.`,
    );
  const groups = body['trajectory_groups'];
  if (!Array.isArray(groups)) return; // episodes, or what only the server can judge
  const problems = groups.flatMap((group, i): Problem[] => {
    try {
      parse(trajectoryGroup, group, 'body');
      return [];
    } catch (error) {
      return [{ where: `trajectory_groups.${i}`, problem: problemOf(error) }];
    }
  });
  if (problems.length > 0) throw refusal(file, counted(problems.length, 'group'), problems, '');
}

function refusal(file: string, what: string, problems: readonly Problem[], advice: string): AppError {
  const shown = problems.slice(0, SHOWN).map(({ where, problem }) => `${where}: ${problem}`);
  const more = problems.length > SHOWN ? `; and ${problems.length - SHOWN} more` : '';
  const message = `${what} of ${file} cannot be used, so nothing was sent. ${shown.join('; ')}${more}.${advice}`;
  return new AppError('invalid_training_data', message);
}
