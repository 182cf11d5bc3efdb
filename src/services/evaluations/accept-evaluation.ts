// Turns a client's evaluation request into what is stored. Its prompts are validated and copied before the job is accepted: an invalid
// line is reported at once instead of after an hour of training, and deleting the artifact later does no harm.
import { counted } from '#base/counted';
import { BODY_SHAPE, checkJsonShape, createShapeBudget, ShapeError, type ShapeBudget } from '#base/json-shape';
import { parseSentJson, stringifySentJson } from '#base/sent-json';
import type { Caller } from '#domain/caller';
import { AppError } from '#domain/errors';
import type { EvaluationBody, EvaluationPrompt, PromptFile, RequestedEvaluation } from '#domain/evaluation';
import type { DatasetVersion } from '#domain/sft';
import { createUnusedOfPrompts, readEvaluationLine } from '#rows/evaluation';
import { createYielder } from '#base/yield-to-loop';
import { splitLines } from '#base/lines';
import type { Artifacts } from '../artifacts/artifacts.ts';
import { readText } from '../jobs/data/sft-dataset.ts';

export interface EvaluationLimits {
  readonly promptsMax: number;
  /** Per prompt. */
  readonly samplesMax: number;
  /** Maximum of prompts × samples × max_tokens. */
  readonly tokensMax: number;
  /** Maximum size of all prompts together, as JSON. */
  readonly promptBytesMax: number;
}

export interface AcceptEvaluationDeps {
  readonly artifacts: Pick<Artifacts, 'get'>;
  readonly limits: EvaluationLimits;
}

export interface AcceptedEvaluation {
  readonly body: EvaluationBody;
  /** What of a file of prompts is not used. */
  readonly warnings: readonly string[];
}

export type AcceptEvaluation = (caller: Caller, requested: RequestedEvaluation) => Promise<AcceptedEvaluation>;

/** Throws `invalid_request`, `artifact_not_found`. */
export function createAcceptEvaluation({ artifacts, limits }: AcceptEvaluationDeps): AcceptEvaluation {
  return async (caller, { settings, tools, prompts: asked }) => {
    const { samples, maxTokens } = settings;
    if (samples > limits.samplesMax) {
      throw refusal(
        'samples',
        `${samples} samples are more than the ${limits.samplesMax} per prompt that this server gives`,
      );
    }
    const read =
      'artifact' in asked ? await readPrompts(caller, asked) : { source: null, prompts: asked, warnings: [] };
    const { source, prompts: given, warnings } = read;
    const prompts = given.map((prompt) => (prompt.tools ? prompt : { ...prompt, tools }));
    if (prompts.length === 0) throw refusal('prompts', 'There is no prompt to answer');
    if (prompts.length > limits.promptsMax) throw tooMany(limits.promptsMax);
    const tokens = prompts.length * samples * maxTokens;
    if (tokens > limits.tokensMax) {
      const what = `${counted(prompts.length, 'prompt')}, ${counted(samples, 'sample')} each, of ${maxTokens} tokens`;
      throw refusal(
        'max_tokens',
        `${what}, may be ${tokens} tokens, more than the ${limits.tokensMax} of one evaluation`,
      );
    }
    const body = stringifySentJson({ settings, source, prompts } satisfies EvaluationBody);
    if (Buffer.byteLength(body) > limits.promptBytesMax) throw tooLong(limits.promptBytesMax);
    return { body: parseSentJson(body, 'rounded') as EvaluationBody, warnings }; // answers repeat tools and metadata, as JSON
  };

  async function readPrompts(caller: Caller, { artifact: named, path: wanted }: PromptFile) {
    const opened = await artifacts.get(caller, named);
    const { entity, project, name, version, files } = opened.artifact;
    const path = wanted ?? promptFile(files.map((file) => file.path));
    const source: DatasetVersion = { entity, project, name, version, path };
    const { content } = await opened.open(path);
    const prompts: EvaluationPrompt[] = [];
    const yieldToLoop = createYielder();
    const budget = createShapeBudget(BODY_SHAPE); // as for prompts in a body: their whole list is read again for every page of answers
    const unused = createUnusedOfPrompts();
    let [line, bytes] = [0, 0];
    for await (const written of splitLines(content, limits.promptBytesMax)) {
      line++;
      await yieldToLoop();
      bytes += written.length;
      if (bytes > limits.promptBytesMax) throw tooLong(limits.promptBytesMax);
      const at = `${path} line ${line} of ${name}:v${version}`;
      const read = readText(written, line, (json) => {
        spend(budget, json, at);
        return readEvaluationLine(json);
      });
      if (read === null) continue;
      if ('problem' in read) throw refusal('prompts_url', `${at}: ${read.problem}`);
      unused.note(read.unused);
      if (prompts.push(read.prompt) > limits.promptsMax) throw tooMany(limits.promptsMax);
    }
    return { source, prompts, warnings: unused.warnings() };
  }
}

/** A line that is nested too deeply says so when it is read. */
function spend(budget: ShapeBudget, json: string, at: string): void {
  try {
    checkJsonShape(json, budget);
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error;
    if (error.of === 'depth') return;
    throw refusal('prompts_url', `The prompts up to ${at} are too many at once: ${error.message}`);
  }
}

const FILES = ['prompts.jsonl', 'val.jsonl', 'validation.jsonl', 'test.jsonl'];

function promptFile(paths: readonly string[]): string {
  const known = FILES.find((path) => paths.includes(path));
  if (known !== undefined) return known;
  const lines = paths.filter((path) => path.endsWith('.jsonl'));
  if (lines.length === 1) return lines[0]!;
  const names = paths.slice(0, 10).join(', ');
  throw refusal('prompts_url', `Name the file with the prompts in \`file\`: the artifact has ${names}`);
}

const tooMany = (promptsMax: number): AppError => refusal('prompts', `More than ${promptsMax} prompts`);
const tooLong = (bytesMax: number): AppError => refusal('prompts', `The prompts have more than ${bytesMax} bytes`);

const refusal = (field: string, what: string): AppError =>
  new AppError('invalid_request', `evaluation: ${what}.`, { param: `evaluation.${field}` });
