// Plans the memory of all models on this machine together before one of them is loaded: logs the plan, or refuses it
// with the numbers and the settings that would make it fit. The engine estimates what each part takes.
import { gigabytes } from '#base/gigabytes';
import { AppError } from '#domain/errors';
import type { Log } from '#base/log';
import type { MemoryLimits } from '#engine/backend';
import { limitsOf, machineMemory, planMemory } from '#engine/open-backend';
import type { MemoryPlan, MemoryWishes, PlannedModel } from '#engine/open-backend';
import { readDecoderConfig } from '#model-files/decoder-config';
import type { ResolvedModel } from '#model-files/resolve-model';
import type { ServerConfig } from '#config/server-config';

type MemoryConfig = Pick<
  ServerConfig,
  'roles' | 'precision' | 'kvCacheDtype' | 'trainingPrecision' | 'memoryBytes' | 'memoryLimits'
>;

/** Returns the memory for each model's engines, by model id. Throws `invalid_request`. */
export async function planModelMemory(
  resolved: readonly ResolvedModel[],
  config: MemoryConfig,
  log: Log,
): Promise<(id: string) => MemoryLimits> {
  const { models, plan, shortage } = await plannedFor(resolved, config);
  if (shortage !== null) throw new AppError('invalid_request', shortage);
  if (models.length > 0) {
    const now = process.availableMemory();
    log.info('memory.planned', { availableMb: megabytes(now), ...report(plan) });
    if (plan.leastBytes > now)
      log.warn('memory.in_use', { neededMb: megabytes(plan.leastBytes), availableMb: megabytes(now), advice: IN_USE });
  }
  return (id) => limitsOf(plan, id, config.memoryLimits);
}

/** Not all of it is taken at once, so the server starts. Caches and long training rows beyond the minimum are no reason for a warning. */
const IN_USE =
  'Other programs use memory that the models need. The server may run out of memory: stop the other programs, or choose a smaller model.';

export interface PlannedMemory {
  readonly models: readonly PlannedModel[];
  readonly plan: MemoryPlan;
  /** Why the plan does not fit, and what would make it fit; null: it fits. */
  readonly shortage: string | null;
}

/** Reads only `config.json` of each model. */
export async function plannedFor(
  resolved: readonly ResolvedModel[],
  { roles, precision, kvCacheDtype, trainingPrecision, memoryBytes, memoryLimits }: MemoryConfig,
): Promise<PlannedMemory> {
  const models = await Promise.all(
    resolved.map(async ({ id, directory }) => ({ id, config: await readDecoderConfig(directory) })),
  );
  const wishes: MemoryWishes = {
    ...memoryLimits,
    samples: roles.includes('serve'),
    trains: roles.includes('train'),
    precision,
    kvCacheDtype,
    trainingPrecision,
    memoryBytes: memoryBytes ?? machineMemory(),
  };
  const plan = planMemory(models, wishes);
  return { models, plan, shortage: plan.fits ? null : explainShortage(plan, models, wishes) };
}

/** In a terminal a table. */
const report = ({ memoryBytes, bytes, parts }: MemoryPlan) => ({
  memoryMb: megabytes(memoryBytes),
  plannedMb: megabytes(bytes),
  parts: parts.map(({ part, model, bytes: own }) => ({ part, model: model ?? 'server', mb: megabytes(own) })),
});

/** One sentence of numbers, one of what to do. */
function explainShortage(plan: MemoryPlan, models: readonly PlannedModel[], wishes: MemoryWishes): string {
  const parts = plan.parts
    .filter(({ bytes }) => bytes > 0)
    .map(
      ({ part, model, bytes }) =>
        `${part.replace('_', ' ')}${model === null ? ' of the server' : models.length > 1 ? ` of ${model}` : ''} ${shown(bytes)}`,
    );
  const names = models.map(({ id }) => id).join(' and ');
  return `${names} would take at least ${shown(plan.bytes)} of memory (${parts.join(', ')}), and ${shown(plan.memoryBytes)} is available (--memory, or all of the machine or container). ${advise(models, wishes, plan)}`;
}

/** Names the changes that are each enough alone; otherwise all of them together; otherwise says that nothing is enough. */
function advise(models: readonly PlannedModel[], wishes: MemoryWishes, { bytes }: MemoryPlan): string {
  const changes = changesOf(wishes, models);
  const fits = (change: Partial<MemoryWishes>) => planMemory(models, { ...wishes, ...change }).fits;
  const alone = changes.filter(([, change]) => fits(change)).map(([flag]) => flag);
  if (alone.length > 0) return `It fits with ${alone.join(', or with ')}.`;
  if (changes.length > 1 && fits(Object.assign({}, ...changes.map(([, change]) => change)) as Partial<MemoryWishes>))
    return `It fits with ${changes.map(([flag]) => flag).join(' and ')} together.`;
  const fewer = models.length > 1 ? 'fewer models, ' : '';
  return `Use ${fewer}a smaller model, or a machine with ${shown(bytes)} or more.`;
}

/** By the flag that makes the change; changes without effect are left out. */
function changesOf(
  wishes: MemoryWishes,
  models: readonly PlannedModel[],
): [flag: string, change: Partial<MemoryWishes>][] {
  const { samples, precision, cacheBytes, trainingMemoryBytes, prefixCacheBytes, adapterBytes, contextLengthMax } =
    wishes;
  const hasExperts = models.some(({ config }) => config.experts);
  const eightBits = hasExperts ? 'w8a8' : 'int8';
  const rounded: [flag: string, change: Partial<MemoryWishes>] =
    samples && precision === 'float32'
      ? ['--precision int8 --training-precision int8', { precision: 'int8', trainingPrecision: 'int8' }]
      : ['--training-precision int8', { trainingPrecision: 'int8' }];
  return [
    ...(samples && precision === 'float32' && !wishes.trains
      ? [[`--precision ${eightBits}`, { precision: eightBits }] as const]
      : []),
    ...(samples && wishes.kvCacheDtype === 'float32' && cacheBytes === null && !wishes.trains
      ? [['--kv-cache-dtype float16', { kvCacheDtype: 'float16' }] as const]
      : []),
    ...(wishes.trains && wishes.trainingPrecision === 'float32' && !hasExperts ? [rounded] : []),
    ...(samples && contextLengthMax !== null && cacheBytes === null
      ? [['a smaller --max-model-len', { contextLengthMax: 1 }] as const]
      : []),
    ...(samples && cacheBytes !== null
      ? [['a smaller --kv-cache', { cacheBytes: null, contextLengthMax: null }] as const]
      : []),
    ...(prefixCacheBytes === null || prefixCacheBytes === 0
      ? []
      : [['a smaller WHETSTONE_PREFIX_CACHE_MB', { prefixCacheBytes: 0 }] as const]),
    ...(adapterBytes === null ? [] : [['a smaller WHETSTONE_ADAPTERS_MB', { adapterBytes: null }] as const]),
    ...(trainingMemoryBytes === null ? [] : [['a smaller --training-memory', { trainingMemoryBytes: null }] as const]),
    ...(samples && wishes.trains ? [['--role api,serve, which does not train', { trains: false }] as const] : []),
  ].map(([flag, change]) => [flag, change]);
}

const megabytes = (bytes: number): number => Math.round(bytes / 1e6);
const shown = (bytes: number): string => gigabytes(bytes, 2);
