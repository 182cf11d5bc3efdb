// Runs recipes of Tinker's cookbook offline, unmodified: data from the Hub is put where `datasets` and `transformers` look first, in
// directories of those names below the working directory. The recipes' own parameters do the rest.
//   Qwen/Qwen3-4B-Instruct-2507  the starter's tokenizer; the only model known to the recipes whose turns have the starter's format
//   HuggingFaceH4/no_robots      conversations for sl_loop
//   openai/gsm8k                 questions for rl_loop
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createRandom, type Random } from '#base/random';
import { runPython } from '../../support/python-script.ts';

export const RECIPE_MODEL = 'Qwen/Qwen3-4B-Instruct-2507';

/** What rl_loop appends to every question, and the example that it prepends. */
const SUFFIX = ' Provide a numerical answer without units, written inside \\boxed{}.';
const STRAWBERRY = [
  { role: 'user', content: `How many r's are in strawberry?${SUFFIX}` },
  {
    role: 'assistant',
    content:
      "Let's spell the word out and number all the letters: 1) s 2) t 3) r 4) a 5) w 6) b 7) e 8) r 9) r 10) y. We have r's at positions 3, 8, and 9. \\boxed{3}",
  },
];

const SUM = 7;

/** All sums are 7, so that a minute is enough to learn that. */
function drawSum(random: Random): string {
  const a = random.integer(SUM + 1);
  return `What is ${a} + ${SUM - a}?`;
}

/** Sums in the format of rl_loop. The answers are boxed and careless: two in three are off by one, which rl_loop then has to unlearn. */
function conversations(count: number): object[] {
  const random = createRandom(1);
  return Array.from({ length: count }, (_, i) => {
    const asked = { role: 'user', content: drawSum(random) + SUFFIX };
    const answer = `\\boxed{${SUM - 1 + (i % 3)}}`;
    return { messages: [...STRAWBERRY, asked, { role: 'assistant', content: answer }] };
  });
}

function questions(count: number): object[] {
  const random = createRandom(2);
  return Array.from({ length: count }, () => ({
    question: drawSum(random),
    answer: `That makes ${SUM}.\n#### ${SUM}`,
  }));
}

const jsonLines = (rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

/** `datasets` reads the names of configurations and splits from the card. */
async function writeDataset(directory: string, config: string, rows: readonly object[]): Promise<void> {
  await mkdir(directory, { recursive: true });
  const card = `---\nconfigs:\n- config_name: ${config}\n  data_files:\n  - split: train\n    path: train.jsonl\n---\n`;
  await writeFile(join(directory, 'README.md'), card);
  await writeFile(join(directory, 'train.jsonl'), jsonLines(rows));
}

/** The starter never met a backslash or a brace on its own: their embeddings are next to nothing, and are not trained. Here they have the
    numbers of two words that it knows, and these have theirs. */
const STAND_INS = [
  ['\\', 'maybe'],
  ['{', 'soup'],
] as const;

async function writeTokenizer(directory: string): Promise<void> {
  const starter = resolve('models/starter');
  await mkdir(directory, { recursive: true });
  for (const file of ['config.json', 'tokenizer_config.json']) await cp(join(starter, file), join(directory, file));
  const tokenizer = JSON.parse(await readFile(join(starter, 'tokenizer.json'), 'utf8')) as {
    model: { vocab: Record<string, number> };
  };
  const { vocab } = tokenizer.model;
  for (const [rare, known] of STAND_INS) [vocab[rare], vocab[known]] = [vocab[known]!, vocab[rare]!];
  await writeFile(join(directory, 'tokenizer.json'), JSON.stringify(tokenizer));
}

export async function layOutRecipeFiles(
  directory: string,
  rows: { readonly conversations: number; readonly questions: number },
): Promise<void> {
  await writeTokenizer(join(directory, RECIPE_MODEL));
  await writeDataset(join(directory, 'HuggingFaceH4/no_robots'), 'default', conversations(rows.conversations));
  await writeDataset(join(directory, 'openai/gsm8k'), 'main', questions(rows.questions));
}

export interface RecipeRunner {
  readonly python: string;
  readonly directory: string;
  /** Base URL of the server, with /tinker. */
  readonly url: string;
  readonly key: string;
}

type Metrics = Readonly<Record<string, number>>;

/** Runs a recipe to its end with parameters as on its command line; returns what it logged per step. */
async function runRecipe(
  { python, directory, url, key }: RecipeRunner,
  recipe: string,
  log: string,
  parameters: Readonly<Record<string, string | number>>,
): Promise<readonly Metrics[]> {
  const given = { base_url: url, model_name: RECIPE_MODEL, log_path: join(directory, log), ...parameters };
  await runPython(
    python,
    ['-m', `tinker_cookbook.recipes.${recipe}`, ...Object.entries(given).map(([name, value]) => `${name}=${value}`)],
    {
      cwd: directory,
      timeout: 500_000,
      env: {
        ...process.env,
        TINKER_API_KEY: `tml-${key}`,
        TINKER_TELEMETRY: '0',
        HF_HUB_OFFLINE: '1',
        HF_HOME: join(directory, 'hub'),
      },
    },
  );
  const lines = (await readFile(join(directory, log, 'metrics.jsonl'), 'utf8')).trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Metrics);
}

/** sl_loop teaches the format of the answers. */
export const teach = (runner: RecipeRunner, about: { readonly batch_size: number; readonly save_every: number }) =>
  runRecipe(runner, 'sl_loop', TAUGHT, {
    learning_rate: 6e-3,
    lora_rank: 16,
    train_on_what: 'last_assistant_message',
    ...about,
  });

interface Reinforced {
  readonly batch_size: number;
  readonly learning_rate: number;
  readonly save_every: number;
}

/** rl_loop continues from the last state of `teach`. */
export async function reinforce(runner: RecipeRunner, loss_fn: string, about: Reinforced): Promise<readonly Metrics[]> {
  await continueFrom(runner.directory, TAUGHT, loss_fn);
  return runRecipe(runner, 'rl_loop', loss_fn, { loss_fn, group_size: 8, max_tokens: 9, ...about });
}

/** Losses that both rl_loop and this server have. */
export const LOSSES = ['importance_sampling', 'cispo'] as const;
const TAUGHT = 'supervised';

/** A recipe that finds this in its log directory continues from a state: here another recipe's last one. */
async function continueFrom(directory: string, from: string, to: string): Promise<void> {
  const lines = (await readFile(join(directory, from, 'checkpoints.jsonl'), 'utf8')).trim().split('\n');
  const last = JSON.parse(lines.at(-1)!) as object;
  await mkdir(join(directory, to), { recursive: true });
  await writeFile(join(directory, to, 'checkpoints.jsonl'), jsonLines([{ ...last, batch: 0 }]));
}
