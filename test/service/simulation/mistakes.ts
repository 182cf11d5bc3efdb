// Mistakes planted in a copy of the sources, one at a time, each of which the simulation must find: so it is known that it looks. An edit names
// text that occurs exactly once; mistakes.test.ts fails when the sources have moved on. scripts/plant-mistakes.ts runs them
// (`npm run test:mistakes`).

export interface Mistake extends EditedFile {
  /** What is wrong then. */
  readonly name: string;
  /** The test that looks for it; without: simulation.test.ts. */
  readonly test?: string;
  /** A second file, where two of them keep one promise. */
  readonly also?: EditedFile;
}

export interface EditedFile {
  /** Within src. */
  readonly file: string;
  readonly edits: readonly (readonly [text: string, instead: string])[];
}

export const editedFiles = (mistake: Mistake): readonly EditedFile[] =>
  mistake.also ? [mistake, mistake.also] : [mistake];

const ATTEMPT = 'services/jobs/attempt/job-attempt.ts';
const PROGRESS = 'services/jobs/attempt/job-progress.ts';
const ROWS = 'storage/sql/jobs.ts';
const LEASE = 'storage/sql/lease.ts';
const FILES = 'storage/blobs/filesystem.ts';

export const MISTAKES: readonly Mistake[] = [
  {
    name: 'a lease is not checked when a job is claimed',
    file: LEASE,
    edits: [['${sql.ref(column)} <= ${nowMs} or', '1 = 1 or']],
  },
  {
    name: 'a lapsed lease is never claimed',
    file: LEASE,
    edits: [['(${sql.ref(column)} <= ${nowMs} or', '(${sql.ref(column)} < 0 or']],
  },
  {
    name: 'a claim keeps the number of the attempt',
    file: LEASE,
    edits: [['attempt: sql<number>`attempt + 1`', 'attempt: sql<number>`attempt`']],
  },
  {
    name: 'a job is claimed before an older one of its model has ended',
    file: ROWS,
    edits: [['older.ordinal < job.ordinal and', 'older.ordinal < 0 and']],
  },
  {
    name: 'a job ends for an attempt that has lost it',
    file: ROWS,
    edits: [
      [
        `.where('id', '=', id)
          .where('attempt', '=', attempt)
          .where('status', '=', 'running')
          .returningAll()`,
        `.where('id', '=', id)
          .where('status', '=', 'running')
          .returningAll()`,
      ],
    ],
  },
  {
    name: 'a job ends again after it has ended',
    file: ROWS,
    edits: [
      [
        `.where('attempt', '=', attempt)
          .where('status', '=', 'running')
          .returningAll()`,
        `.returningAll()`,
      ],
    ],
  },
  {
    name: 'the end of a job is no transaction',
    file: ROWS,
    edits: [
      [
        'return inJob(id, false, async (tx) => {\n        const ended',
        'return (async (tx: typeof db) => {\n        const ended',
      ],
      ['return true;\n      });', 'return true;\n      })(db);'],
    ],
  },
  {
    name: 'a cancellation overwrites a claim',
    test: 'cancellation.test.ts',
    file: ROWS,
    edits: [
      [
        "const ended = await ofJob('queued')",
        `const before = await tx.selectFrom('training_jobs').select('status').where('id', '=', id).executeTakeFirst();
        const ended = before?.status === 'queued' && await tx.updateTable('training_jobs').where('id', '=', id)`,
      ],
    ],
  },
  {
    name: 'a running job cannot be cancelled',
    file: ROWS,
    edits: [["if (changed(await ofJob('running')", "if (changed(await ofJob('queued')"]],
  },
  {
    name: 'an event is stored again',
    file: 'storage/sql/events.ts',
    edits: [
      ['if (event.ordinal < count) return false;', 'if (event.ordinal < count) event = { ...event, ordinal: count };'],
    ],
  },
  {
    name: 'the first event comes before its state',
    file: ATTEMPT,
    edits: [
      [
        'const step = await storage.jobs.assignStep(job.id, job.attempt);',
        "await appendEvent(deps, job, 0, 'training_started', startedData(work, lora));\n  const step = await storage.jobs.assignStep(job.id, job.attempt);",
      ],
    ],
  },
  {
    name: 'the event of a gradient step comes before its progress',
    file: ATTEMPT,
    edits: [
      [
        "if (!(await update({ progress: stepsDone / steps }))) return 'lost';",
        "await appendEvent(deps, job, stepsDone, 'gradient_step', { gradient_step: stepsDone, ...metrics });\n      if (!(await update({ progress: stepsDone / steps }))) return 'lost';",
      ],
    ],
  },
  {
    name: 'the closing event comes before the end',
    file: ATTEMPT,
    edits: [
      [
        'const usedSinceMs = clock.now() - USED_MS;',
        "await appendEvent(deps, job, closingOrdinal, 'training_ended', { step });\n  const usedSinceMs = clock.now() - USED_MS;",
      ],
    ],
  },
  {
    name: 'the row of a checkpoint comes before its files',
    file: ATTEMPT,
    edits: [
      [
        ': await saveSession(blobs, blobPrefix, session, deps.workDirectory);',
        ': (void saveSession(blobs, blobPrefix, session, deps.workDirectory), { sizeBytes: 1 });',
      ],
    ],
  },
  {
    name: 'the row of a job comes before its body',
    file: 'services/jobs/training-jobs.ts',
    edits: [['return write(target, bodyBlob);', 'void write(target, bodyBlob);\n        return { sizeBytes: 1 };']],
  },
  {
    name: 'a job that is submitted again is made again',
    file: 'services/jobs/training-jobs.ts',
    edits: [
      [
        `const made = await storage.jobs.find(id);
      if (made) return made;`,
        '',
      ],
    ],
  },
  {
    name: 'a follower waits without looking by itself',
    file: 'services/jobs/job-events.ts',
    edits: [['const timer = setTimeout(wake, timeoutMs);', 'const timer = undefined; void timeoutMs;']],
  },
  {
    name: 'nobody looks for jobs without being woken',
    file: 'services/claim-loop.ts',
    edits: [['else await wakeSignal.wait(pollMs);', 'else await wakeSignal.wait(1e9 + pollMs);']],
  },
  {
    name: 'a lost lease is ignored',
    file: ATTEMPT,
    edits: [["if (now?.status !== 'running' || now.attempt !== attempt) return 'lost';", "if (!now) return 'lost';"]],
    also: { file: 'services/jobs/job-runner.ts', edits: [["lease.cut('lost');", 'return;']] },
  },
  {
    name: 'leases are not renewed',
    file: 'services/claim-loop.ts',
    edits: [
      [
        'const heartbeat = setInterval(() => void renew().catch(reportFailure), leaseMs / 3);',
        'const heartbeat = undefined; void [renew, leaseMs, reportFailure];',
      ],
    ],
  },
  {
    name: 'an attempt that has lost its job deletes the files of the one that ended it',
    file: PROGRESS,
    edits: [['if (each !== made) await', 'await']],
  },
  {
    name: 'all attempts write their checkpoint to one place',
    file: 'domain/blob-names.ts',
    edits: [
      ['`checkpoints/${modelId}/${jobId}.${attempt}`', '`checkpoints/${modelId}/${jobId}.${Math.min(attempt, 1)}`'],
    ],
  },
  {
    name: 'a resumed job forgets how many steps it has done',
    file: ATTEMPT,
    edits: [['heldOut, saved?.stepsDone ?? 0);', 'heldOut, 0);']],
  },
  {
    name: 'a resumed job begins with a new optimizer',
    file: ATTEMPT,
    edits: [['work.resetsOptimizer && !saved', 'true']],
  },
  {
    name: 'a state is saved without its optimizer',
    file: PROGRESS,
    edits: [['{ resumable: true }', '{ resumable: false }']],
  },
  {
    name: 'a resumed job forgets the values of its first steps',
    file: ATTEMPT,
    edits: [['if (saved) work.recorder?.restore(', 'if (saved && false) work.recorder?.restore(']],
  },
  {
    name: 'the best state is deleted with the old ones',
    file: PROGRESS,
    edits: [['const states = [stepsDone, keptStep ?? stepsDone]', 'const states = [stepsDone]']],
  },
  {
    name: 'the pointer to a saved state comes before the state',
    file: PROGRESS,
    edits: [
      ['  await saveSession(blobs, progressStateBlob(jobId, stepsDone), session, workDirectory);\n', ''],
      [
        '  await blobs.put(progressPointerBlob(jobId), sealJson(pointer));\n',
        '  await blobs.put(progressPointerBlob(jobId), sealJson(pointer));\n  await saveSession(blobs, progressStateBlob(jobId, stepsDone), session, workDirectory);\n',
      ],
    ],
  },
  {
    name: 'a continued job evaluates its held-out rows as if it began',
    file: ATTEMPT,
    edits: [['saved?.standing ?? null', 'null']],
  },
  {
    name: 'the fsync of a file is left out',
    file: FILES,
    edits: [['    await file.sync();\n', '']],
  },
  {
    name: 'the fsync of directories is left out',
    file: FILES,
    edits: [['at.length >= base.length; at = dirname(at)) await syncPath(at);', 'false; ) await syncPath(at);']],
  },
  {
    name: 'only the nearest directory is fsynced',
    file: FILES,
    edits: [
      [
        'for (let at = dirname(path); at.length >= base.length; at = dirname(at)) await syncPath(at);',
        'await syncPath(dirname(path));',
      ],
    ],
  },
];
