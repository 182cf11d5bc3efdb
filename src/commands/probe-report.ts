// What the answers to a few tasks say about training on them by rewards: figures, whether RL can learn from them, and what to do if
// not. Knows nothing of servers, nor how a reward comes about.
import { counted } from '#base/counted';
import { asCalled } from './as-called.ts';
import { inColumns } from './columns.ts';
import { short } from './event-lines.ts';
import { cut, printable } from './output.ts';
import { shortName } from './short-name.ts';
import { toldApart } from './told-apart.ts';

export interface ProbedAnswer {
  readonly text: string;
  readonly reward: number;
  readonly tokens: number;
  /** It ended at the token limit, not by itself. */
  readonly isCut: boolean;
}

export interface ProbedTask {
  /** In the file, from 1. */
  readonly line: number;
  /** The last message, to recognise it by. */
  readonly prompt: string;
  /** Empty: no answer could be had. */
  readonly answers: readonly ProbedAnswer[];
}

export interface Probe {
  readonly model: string;
  readonly samples: number;
  readonly maxTokens: number;
  /** Reward from which an answer counts as a success. */
  readonly success: number;
  readonly tasks: readonly ProbedTask[];
  /** Tasks of the file, of which `tasks` may be a part. */
  readonly tasksInFile: number;
  /** Why the first task that could not be answered could not; null: all could. */
  readonly problem: string | null;
}

/** `yes`: enough groups differ; `slowly`: a few do, and most of the work would be in vain; `no`: none does. */
export type Verdict = 'yes' | 'slowly' | 'no';

export interface ProbeReport {
  readonly model: string;
  readonly tasks: number;
  readonly tasks_in_file: number;
  readonly samples: number;
  readonly answers: number;
  /** Share of answers whose reward is at least `success_at`. */
  readonly success_rate: number;
  readonly success_at: number;
  readonly reward: { readonly mean: number; readonly min: number; readonly max: number };
  /** Answers to one task are a group. Groups whose rewards are equal teach nothing. */
  readonly groups: {
    readonly differ: number;
    /** Equal, and all answers succeed. */
    readonly solved: number;
    /** Equal, and no answer succeeds. */
    readonly failed: number;
    /** Equal, and the answers have the same words too. */
    readonly same_text: number;
    readonly unanswered: number;
  };
  readonly tokens: { readonly mean: number; readonly max: number; readonly limit: number };
  /** Share of answers that ended at the token limit. */
  readonly cut_off: number;
  readonly can_learn: Verdict;
  readonly advice: readonly string[];
}

/** Below this share of groups that differ, most of the sampling is for nothing. */
const ENOUGH_DIFFER = 0.25;
/** Above this share of cut off answers, the limit decides rewards. */
const MANY_CUT = 0.1;
const NEARLY_SOLVED = 0.9;
/** With fewer groups, chance decides what the figures say. */
const FEW_GROUPS = 8;

export function reportOn(probe: Probe): ProbeReport {
  const groups = probe.tasks.map(({ answers }) => answers).filter(({ length }) => length > 0);
  const answers = groups.flat();
  const rewards = answers.map(({ reward }) => reward);
  const succeeds = ({ reward }: ProbedAnswer): boolean => reward >= probe.success;
  const equal = groups.filter((group) => group.every(({ reward }) => reward === group[0]!.reward));
  const tokens = answers.map((each) => each.tokens);
  const measured = {
    model: probe.model,
    tasks: probe.tasks.length,
    tasks_in_file: probe.tasksInFile,
    samples: probe.samples,
    answers: answers.length,
    success_rate: share(answers, succeeds),
    success_at: probe.success,
    reward: { mean: mean(rewards), min: least(rewards), max: most(rewards) },
    groups: {
      differ: groups.length - equal.length,
      solved: equal.filter((group) => group.every(succeeds)).length,
      failed: equal.filter((group) => !group.some(succeeds)).length,
      same_text: equal.filter((group) => group.every(({ text }) => text === group[0]!.text)).length,
      unanswered: probe.tasks.length - groups.length,
    },
    tokens: { mean: mean(tokens), max: most(tokens), limit: probe.maxTokens },
    cut_off: share(answers, ({ isCut }) => isCut),
  };
  const verdict = verdictOn(measured.groups.differ / groups.length);
  return { ...measured, can_learn: verdict, advice: adviceOn(measured, verdict) };
}

function verdictOn(differ: number): Verdict {
  if (differ === 0) return 'no';
  return differ < ENOUGH_DIFFER ? 'slowly' : 'yes';
}

type Measured = Omit<ProbeReport, 'can_learn' | 'advice'>;

function adviceOn(measured: Measured, verdict: Verdict): string[] {
  const { groups, tasks, samples, tokens } = measured;
  return [
    ...(measured.cut_off > MANY_CUT
      ? [
          `${percent(measured.cut_off)} of the answers were cut off after ${tokens.limit} tokens: raise --max-tokens, or ask for shorter answers.`,
        ]
      : []),
    ...(verdict === 'yes' ? [] : remedies(measured)),
    ...(verdict === 'yes' && measured.success_rate > NEARLY_SOLVED
      ? ['The model succeeds nearly always: there is little left to learn. Harder tasks teach more.']
      : []),
    ...(tasks - groups.unanswered < FEW_GROUPS
      ? [
          `${counted(tasks - groups.unanswered, 'task')} with ${counted(samples, 'answer')} each say little: probe more tasks.`,
        ]
      : []),
  ];
}

/** In the order in which they are worth trying. */
function remedies({ groups, samples, answers, success_rate: rate }: Measured): string[] {
  const equal = groups.solved + groups.failed;
  if (groups.solved > groups.failed)
    return ['Most tasks are solved by every answer: take harder ones, or a reward that still tells good from better.'];
  const never = rate === 0;
  return [
    never
      ? `No answer of ${answers} succeeds (so fewer than about ${percent(Math.min(1, 3 / answers))} do): train on examples first, \`whetstone train rows.jsonl\`, then probe again.`
      : `Sample more: --samples ${4 * samples} shows whether more groups differ, and a job takes as many answers per prompt.`,
    'Make the task easier: say in the prompt what the answer must look like, show an example there, or give a part of the reward for a part of the way.',
    ...(never
      ? []
      : ['Train on examples first, `whetstone train rows.jsonl`: rewards then have something to strengthen.']),
    ...(groups.same_text > equal / 2
      ? [
          'Most groups have the same words in every answer: the model is certain of them, and more samples will not help.',
        ]
      : []),
    'Look at the answers below: a reward that compares too strictly (spaces, case, a full stop) looks like a model that fails.',
  ];
}

function verdictLine({ can_learn: verdict, groups }: ProbeReport): string {
  const isSolved = groups.solved > groups.failed;
  if (verdict === 'yes') return 'Yes: RL can learn from these tasks.';
  if (verdict === 'slowly')
    return isSolved
      ? 'Slowly: most tasks are solved by every answer, and teach nothing any more.'
      : 'Slowly: RL could learn from these tasks, but most groups teach nothing.';
  return isSolved
    ? 'No: RL cannot learn from these tasks, because nearly every answer succeeds already.'
    : 'No: RL cannot learn from these tasks, because in no group does one answer get more than another.';
}

/** `shown`: of how many tasks to print the best and the worst answer. */
export function linesOfReport(report: ProbeReport, probe: Probe, shown: number): string[] {
  const { groups, tokens, reward } = report;
  const counts = [
    `${groups.differ} of ${report.tasks} differ`,
    ...(groups.failed > 0 ? [`${groups.failed} fail throughout`] : []),
    ...(groups.solved > 0 ? [`${groups.solved} succeed throughout`] : []),
    ...(groups.unanswered > 0 ? [`${groups.unanswered} could not be answered`] : []),
  ];
  const part = report.tasks < report.tasks_in_file ? ` (of ${report.tasks_in_file} in the file)` : '';
  return [
    ...inColumns([
      [
        'probed',
        `${counted(report.tasks, 'task')}${part} × ${counted(report.samples, 'answer')} of ${shortName(report.model)}`,
      ],
      ['success', `${percent(report.success_rate)} of the answers get a reward of ${report.success_at} or more`],
      ['reward', `mean ${short(reward.mean)}, from ${short(reward.min)} to ${short(reward.max)}`],
      ['groups', counts.join(', ')],
      [
        'tokens',
        `mean ${short(tokens.mean)} per answer, at most ${tokens.max}; ${percent(report.cut_off)} cut off after ${tokens.limit}`,
      ],
    ]),
    ...(probe.problem === null ? [] : [`not answered: ${printable(probe.problem)}`]),
    verdictLine(report),
    ...report.advice.map((each) => `- ${asCalled(each)}`),
    ...linesOfTasks(
      probe.tasks.filter(({ answers }) => answers.length > 0),
      shown,
    ),
  ];
}

function linesOfTasks(tasks: readonly ProbedTask[], shown: number): string[] {
  const prompts = toldApart(
    tasks.map(({ prompt }) => prompt),
    PROMPT_SHOWN,
  );
  return spread(
    tasks.map((task, i) => linesOfTask(task, prompts[i]!)),
    shown,
  ).flat();
}

function linesOfTask({ line, answers }: ProbedTask, prompt: string): string[] {
  const byReward = [...answers].sort((a, b) => b.reward - a.reward);
  const [best, worst] = [byReward[0]!, byReward.at(-1)!];
  const shown = best.reward === worst.reward ? [best] : [best, worst];
  return [
    `line ${line}  ${prompt}`,
    ...shown.map(({ reward, text }) => `  reward ${short(reward)}  ${cut(printable(text), ANSWER_SHOWN)}`),
  ];
}

const PROMPT_SHOWN = 100;
const ANSWER_SHOWN = 100;

/** At most `count` of them, evenly over the list. */
export const spread = <T>(all: readonly T[], count: number): T[] =>
  count >= all.length ? [...all] : Array.from({ length: count }, (_, i) => all[Math.floor((i * all.length) / count)]!);

/** Rounded, but never to 0 or 100 where it is neither. */
function percent(part: number): string {
  const value = 100 * part;
  if (value > 0 && value < 1) return `${Number(value.toPrecision(1))} %`;
  if (value > 99 && value < 100) return `${Number((100 - Number((100 - value).toPrecision(1))).toPrecision(6))} %`;
  return `${Math.round(value)} %`;
}
const mean = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0) / values.length;
const least = (values: readonly number[]): number => values.reduce((a, b) => Math.min(a, b));
const most = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, b));
const share = <T>(all: readonly T[], has: (each: T) => boolean): number => all.filter(has).length / all.length;
