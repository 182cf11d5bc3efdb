// What the models of a server may take of memory. How it is divided is the engine's to plan.
import { setting } from './setting.ts';
import { choice, gigabytes, integer } from './value-types.ts';

export const MEMORY_SETTINGS = {
  maxModelLen: setting({
    flag: '--max-model-len <tokens>',
    variable: 'WHETSTONE_MAX_MODEL_LEN',
    value: integer(1, 10_000_000),
    default: null,
    defaultText: 'what the model supports, at most 32768, and what fits into its cache',
    help: 'maximum tokens of prompt and answer together; a lower limit needs less memory',
  }),
  kvCache: setting({
    flag: '--kv-cache <gigabytes>',
    variable: 'WHETSTONE_KV_CACHE',
    value: gigabytes,
    default: null,
    defaultText: '1/4 of --memory, at most 4 GiB, divided among the models, or what is left',
    help: 'memory for the keys and values of all answers in progress, per base model',
  }),
  kvCacheDtype: setting({
    flag: '--kv-cache-dtype <name>',
    variable: 'WHETSTONE_KV_CACHE_DTYPE',
    value: choice(['auto', 'float16'] as const),
    default: 'auto',
    help: 'number format of keys and values: auto (float32), or float16 (twice the tokens in the same memory, slower with many answers at once; logprobs are rounded)',
    reason: 'sampling and training then agree to 1e-4',
  }),
  memory: setting({
    flag: '--memory <gigabytes>',
    variable: 'WHETSTONE_MEMORY',
    value: gigabytes,
    default: null,
    defaultText: 'all of the machine or container',
    help: 'memory that weights, caches and training may use together; models that do not fit are refused before they are loaded',
    reason: 'the operating system kills a process that uses more, in the middle of its work',
  }),
};
