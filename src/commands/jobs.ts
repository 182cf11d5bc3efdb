// `whetstone jobs`: lists training jobs, and shows their data, settings, progress and results.
import { Option, type Command } from 'commander';
import {
  TrainingFailedError,
  type Client,
  type OnConnection,
  type TrainingEvent,
  type TrainingJob,
} from '#client/client';
import { AppError } from '#domain/errors';
import { allOfEvent, createEventLines } from './event-lines.ts';
import { interruptible } from './interrupt.ts';
import { lineOfEvaluation, linesOfGroups, linesOfAnswers, linesOfJob, linesOfJobs, nameOfResult } from './job-lines.ts';
import { causeOf, sayLost } from './lost-server.ts';
import { wholeNumber } from './numbers.ts';
import { all, confirm, linesOr, note, say, show, withJson, withYes, type JsonFlag, type YesFlag } from './output.ts';
import { showProgress } from './progress.ts';
import { getWholeModel, type Remote, type RemoteFlags } from './remote.ts';
import { outColumns, writeError } from './terminal.ts';

const TYPES = ['rl', 'sft', 'dpo'] as const;
const STATUSES = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const;

interface ListFlags extends RemoteFlags, JsonFlag {
  readonly model?: string;
  readonly status?: TrainingJob['status'];
  readonly type?: TrainingJob['type'];
  readonly search?: string;
  readonly limit: number;
}

interface GetFlags extends RemoteFlags, JsonFlag {
  readonly groups?: boolean;
  readonly answers?: boolean;
}

/** If a job has no event by then, its user is told why. */
const BEGINS_WITHIN_MS = 5_000;

interface EventFlags extends RemoteFlags, JsonFlag {
  readonly verbose?: boolean;
}

export type FollowFlags = EventFlags & { readonly timeout: number };

export const withVerbose = (command: Command): Command =>
  command.option('--verbose', 'print all fields of the events, with the names of the API');

/** Formats the events of one job, in order. */
function eventFormat({ json = false, verbose = false }: EventFlags): (event: TrainingEvent) => readonly string[] {
  if (json) return (event) => [JSON.stringify(event)];
  return verbose ? (event) => allOfEvent(event, outColumns()) : createEventLines();
}

export function addJobs(program: Command, remote: Remote): void {
  const jobs = program.command('jobs').description('list, follow and cancel training jobs');

  withJson(remote.command(jobs, 'list'))
    .alias('ls')
    .description(
      'list the newest jobs: their models, status, rewards, how long they took, and the steps that they made',
    )
    .option('--model <name>', 'only jobs of this model')
    .option('--search <text>', 'only jobs of models whose project/name contains this text')
    .addOption(new Option('--type <kind>', 'only jobs of this kind').choices(TYPES))
    .addOption(new Option('--status <name>', 'only jobs with this status').choices(STATUSES))
    .option('--limit <count>', 'maximum number of jobs to show', wholeNumber(1), 20)
    .action(async ({ model: name, status, type, search, limit, ...flags }: ListFlags) => {
      const client = remote.connect(flags);
      const filter = {
        ...(name === undefined ? {} : { model_id: (await getWholeModel(client, name)).id }),
        ...(status === undefined ? {} : { status }),
        ...(type === undefined ? {} : { type }),
        ...(search === undefined ? {} : { search }),
      };
      const found = await all(client.listTrainingJobs({ order: 'desc', ...filter }), limit + 1);
      show(flags, found.slice(0, limit), (list) => linesOfJobs(list));
      if (found.length > limit) note(`Only the newest ${limit}: show more with --limit.`);
    });

  withJson(remote.command(jobs, 'get <id>'))
    .alias('show')
    .description('show the status, settings and warnings of a job')
    .option('--groups', 'also print a line per group: rewards, advantages, what was skipped, the prompt')
    .option('--answers', 'also print how the checkpoint answered the prompts of its evaluation, with rewards')
    .action((id: string, flags: GetFlags) => getJob(remote.connect(flags), id, flags));

  withVerbose(withJson(remote.command(jobs, 'follow <id>')))
    .description(
      'print the events of a job as they arrive, until it ends; exits with 1 if the job failed or was cancelled',
    )
    .option('--timeout <seconds>', 'stop following after this many seconds; the job continues', wholeNumber(1), 3600)
    .action(async (id: string, flags: FollowFlags) => {
      const client = remote.connect(flags);
      await client.getTrainingJob(id); // fails if the server was never there; a restarting server is waited for below
      await followJob(client, id, flags);
    });

  withVerbose(withJson(remote.command(jobs, 'logs <id>')))
    .description('print the events of a job so far')
    .action(async (id: string, flags: EventFlags) => {
      show(flags, await all(remote.connect(flags).listEvents(id)), (events) =>
        linesOr('No events yet.', events.flatMap(eventFormat(flags))),
      );
    });

  withYes(withJson(remote.command(jobs, 'cancel <id>')))
    .description('cancel a job; its work is lost, and the model keeps its latest checkpoint')
    .action(async (id: string, flags: RemoteFlags & JsonFlag & YesFlag) => {
      const client = remote.connect(flags);
      const { type, status: before } = await client.getTrainingJob(id);
      if (before !== 'queued' && before !== 'running')
        throw new AppError('job_finished', `The job ${id} has ended (${before}): there is nothing to cancel.`);
      await confirm(flags, `Cancel the ${type} job ${id}, which is ${before}?`);
      show(flags, await client.cancelTrainingJob(id), ({ status }) => [
        `${id}: ${status === 'running' ? 'will be cancelled after the current gradient step' : status}`,
      ]);
    });
}

/** Longer than a server's restart or upgrade takes. */
const UNREACHABLE_MS_MAX = 600_000;

/** Says that the server does not answer, and that it answers again. Throws if it is away for too long. */
export function sayConnection(
  id: string,
  endBar: () => void,
  { warn = (line: string): void => writeError(`${line}\n`), now = () => performance.now() } = {},
): OnConnection {
  const minutes = UNREACHABLE_MS_MAX / 60_000;
  const say = sayLost(endBar, `for up to ${minutes} minutes`, warn);
  let lostMs: number | null = null;
  return (lost) => {
    if (lost === null) lostMs = null;
    else if (now() - (lostMs ??= now()) >= UNREACHABLE_MS_MAX)
      throw new TrainingFailedError(
        `no connection to the server for ${minutes} minutes: ${causeOf(lost)}. Job ${id} continues when the server runs again. Follow it: whetstone jobs follow ${id}`,
      );
    say(lost);
  };
}

/** What is known of a job that has no event yet: one that runs reads its data before its first event, which may take minutes. */
async function saySilence(client: Pick<Client, 'getTrainingJob'>, id: string): Promise<void> {
  const { status } = await client.getTrainingJob(id).catch(() => ({ status: null }));
  if (status === 'running') note(`job ${id} has begun: its data is being read`);
  if (status === 'queued')
    note(
      `job ${id} is waiting: no trainer has started it. Earlier jobs: whetstone jobs list. Connected workers: whetstone workers`,
    );
}

/** Prints events, and then the job if JSON was requested. On Ctrl-C the job continues, and the command says so. */
export async function followJob(client: Client, id: string, flags: FollowFlags): Promise<TrainingJob> {
  const { json = false, timeout } = flags;
  const format = eventFormat(flags);
  const { onDone, end } = showProgress();
  const waits = setTimeout(() => void saySilence(client, id), BEGINS_WITHIN_MS);
  let isTold = false; // the printed event says why it failed
  const line = () =>
    `Interrupted: the job continues. Follow it: whetstone jobs follow ${id}. Cancel it: whetstone jobs cancel ${id}`;
  try {
    const job = await interruptible({ line }, () =>
      client.follow(id, {
        deadlineMs: timeout * 1000,
        onEvent(event) {
          clearTimeout(waits);
          end();
          format(event).forEach(say);
          isTold = !json && event.type === 'training_failed';
        },
        onProgress: ({ done, total }) => done < total && onDone('training', done, total),
        onWarning: () => {}, // the printed events contain them
        onConnection: sayConnection(id, end),
      }),
    );
    say(json ? JSON.stringify(job) : nameOfResult(job));
    return job;
  } catch (error) {
    if (error instanceof TrainingFailedError && isTold)
      throw new TrainingFailedError(`job ${id} made no checkpoint. See: whetstone jobs get ${id}`);
    if (error instanceof TrainingFailedError)
      throw new TrainingFailedError(`job ${id}: ${error.message}. See: whetstone jobs get ${id}`);
    if (error instanceof DOMException && error.name === 'TimeoutError')
      throw new TrainingFailedError(
        `job ${id} has not ended within ${timeout} s and continues. Follow it: whetstone jobs follow ${id}`,
      );
    throw error;
  } finally {
    clearTimeout(waits);
    end();
  }
}

async function getJob(client: Client, id: string, flags: GetFlags): Promise<void> {
  const [job, settings] = [await client.getTrainingJob(id), await client.getJobConfig(id)];
  const { config, input, as_trained } = settings;
  const groups = flags.groups && job.type === 'rl' ? await all(client.listJobGroups(id)) : [];
  const { evaluation = null } = job;
  const answers = flags.answers && evaluation ? await all(client.listEvaluationAnswers(id)) : [];
  const lists = { ...(flags.groups ? { groups } : {}), ...(flags.answers ? { answers } : {}) };
  show(flags, { ...job, config, input, as_trained, ...lists }, () => [
    ...linesOfJob(job, settings),
    ...(flags.groups && groups.length === 0 ? [`no groups: the ${job.type} job has none`] : []),
    ...linesOfGroups(groups),
    ...(evaluation ? [lineOfEvaluation(evaluation)] : []),
    ...(flags.answers && !evaluation ? ['no answers: the job has no evaluation, which train --evaluate asks for'] : []),
    ...linesOfAnswers(answers),
  ]);
}
