// Trains the starter model from random numbers with our own engine.
//   node --import tsx -C source scripts/starter/train.ts --minutes 40 [--steps N] [--out models/starter] [--resume]
// With --steps the run is reproducible: the same numbers on the same machine. With --minutes the learning rate follows
// the clock, and the run ends when the time is over. Whatever is needed to go on lies in --work (weights in float32,
// optimizer moments, progress.json); --out gets the bfloat16 weights at every save.
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openFullTraining, type FullTrainingSession } from '#engine/onnx/learning/full-training';
import { corpusRows, type CorpusRow } from './make-corpus.ts';
import { createStarterEncoder, parseVocabulary } from './model-files.ts';
import { learningRateAt } from './schedule.ts';
import { skillLoss, withLossInputs } from './skill-loss.ts';
import { SKILLS } from './world/world.ts';

const ADAMW = { beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0.05, maxGradNorm: 1 };
const SAVE_EVERY_MS = 180_000;
const PRINT_EVERY_STEPS = 25;
/** Weight of one step in the printed loss. */
const SMOOTHING = 0.05;

interface Progress {
  step: number;
  elapsedMs: number;
  tokenCount: number;
}

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '40' },
    steps: { type: 'string' },
    out: { type: 'string', default: 'models/starter' },
    work: { type: 'string', default: '.cache/starter-training' },
    seed: { type: 'string', default: '1' },
    threads: { type: 'string', default: '2' },
    rows: { type: 'string', default: '8' },
    'learning-rate': { type: 'string', default: '3e-3' },
    resume: { type: 'boolean', default: false },
  },
});

const schedule = { peak: Number(options['learning-rate']), warmupSteps: 100, finalShare: 0.05 };
const progressFile = join(options.work, 'progress.json');

function readProgress(): Progress {
  if (!options.resume || !existsSync(progressFile)) return { step: 0, elapsedMs: 0, tokenCount: 0 };
  return JSON.parse(readFileSync(progressFile, 'utf8')) as Progress;
}

/** 0 at the start, 1 when the run is over. */
function shareDone({ step, elapsedMs }: Progress): number {
  return options.steps ? step / Number(options.steps) : elapsedMs / (Number(options.minutes) * 60_000);
}

async function save(session: FullTrainingSession, progress: Progress): Promise<void> {
  await session.save(options.work, 'F32');
  await session.saveOptimizer(options.work);
  writeFileSync(progressFile, JSON.stringify(progress) + '\n');
  await session.save(options.out, 'BF16');
}

function createAverages() {
  const means = new Map<string, number>();
  return {
    add(name: string, value: number): void {
      if (value === 0) return; // no answer of this skill in the batch
      const mean = means.get(name);
      means.set(name, mean === undefined ? value : mean + SMOOTHING * (value - mean));
    },
    get: (name: string): string => (means.get(name) ?? NaN).toFixed(3),
  };
}

async function main(): Promise<void> {
  const vocabulary = parseVocabulary(readFileSync(join(options.out, 'tokenizer.json'), 'utf8'));
  const rows = corpusRows(Number(options.seed), createStarterEncoder(vocabulary), vocabulary.added['<|endoftext|>']!);
  const batch = (): CorpusRow[] => Array.from({ length: Number(options.rows) }, () => rows.next().value);

  mkdirSync(options.work, { recursive: true });
  copyFileSync(join(options.out, 'config.json'), join(options.work, 'config.json'));
  const progress = readProgress();
  const session = await openFullTraining({
    directory: options.work,
    seed: Number(options.seed),
    threads: Number(options.threads),
    resume: progress.step > 0,
  });
  console.log(`${session.parameterCount} parameters, step ${progress.step}`);
  for (let step = 0; step < progress.step; step++) batch(); // the corpus continues where it stopped

  const averages = createAverages();
  const startMs = performance.now() - progress.elapsedMs;
  const firstMs = performance.now();
  const firstTokens = progress.tokenCount;
  let savedMs = performance.now();
  while (shareDone(progress) < 1) {
    const members = batch();
    const { loss, metrics } = await session.forwardBackward(withLossInputs(members), skillLoss);
    const learningRate = learningRateAt(schedule, progress.step, shareDone(progress));
    const { gradNorm } = await session.optimStep({ ...ADAMW, learningRate });

    progress.step++;
    progress.elapsedMs = performance.now() - startMs;
    progress.tokenCount += members.reduce((sum, { tokenCount }) => sum + tokenCount, 0);
    averages.add('loss', loss);
    for (const [name, value] of Object.entries(metrics)) averages.add(name, value);
    if (progress.step % PRINT_EVERY_STEPS === 0) {
      const speed = ((progress.tokenCount - firstTokens) / (performance.now() - firstMs)) * 1000;
      const skills = SKILLS.map(({ name }) => `${name} ${averages.get(name)}`).join(', ');
      console.log(
        `step ${progress.step} · ${(progress.elapsedMs / 60_000).toFixed(1)} min · ${progress.tokenCount} tokens · ` +
          `${speed.toFixed(0)} tokens/s · lr ${learningRate.toExponential(1)} · norm ${gradNorm.toFixed(2)} · ` +
          `loss ${averages.get('loss')} (${skills})`,
      );
    }
    if (performance.now() - savedMs > SAVE_EVERY_MS) {
      await save(session, progress);
      savedMs = performance.now();
    }
  }
  await save(session, progress);
  await session.close();
  console.log(`done: ${progress.step} steps, ${progress.tokenCount} tokens, ${options.out}/model.safetensors`);
}

await main();
