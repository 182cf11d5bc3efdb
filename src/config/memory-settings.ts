// What the models of a server may take of memory. How it is divided is the engine's to plan.
import { setting } from './setting.ts';
import { choice, gigabytes, integer } from './value-types.ts';

export const MEMORY_SETTINGS = {
  maxModelLen: setting({
    flag: '--max-model-len <tokens>',
    variable: 'WHETSTONE_MAX_MODEL_LEN',
    value: integer(1, 10_000_000),
    default: null,
    defaultText: 'what the model reads, at most 32768, and what its cache holds',
    help: 'most tokens of prompt and answer together; less takes less memory',
  }),
  kvCache: setting({
    flag: '--kv-cache <gigabytes>',
    variable: 'WHETSTONE_KV_CACHE',
    value: gigabytes,
    default: null,
    defaultText: '1/4 of --memory, at most 4 GiB, divided among the models, or what is left',
    help: 'memory for keys and values of all answers that are being written, per base model',
  }),
  kvCacheDtype: setting({
    flag: '--kv-cache-dtype <name>',
    variable: 'WHETSTONE_KV_CACHE_DTYPE',
    value: choice(['auto', 'float16'] as const),
    default: 'auto',
    help: 'how keys and values are kept: auto (float32) or float16 (twice the tokens in the same memory, slower for many answers at once), whose logprobs are rounded',
    reason: 'what was sampled is what is trained, to 1e-4',
  }),
  memory: setting({
    flag: '--memory <gigabytes>',
    variable: 'WHETSTONE_MEMORY',
    value: gigabytes,
    default: null,
    defaultText: 'that of the machine or its container',
    help: 'memory that weights, caches and training may take together; models that do not fit are refused before they are loaded',
    reason: 'the system ends a process that takes more, in the middle of its work',
  }),
};
