// The peer for training: PyTorch + PEFT in a process of its own. Null if WHETSTONE_PYTHON names no interpreter.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { DecoderConfig } from '#model-files/decoder-config';
import { configJson } from './model-directory.ts';
import type { TrainingTimes } from './training.ts';

const SCRIPT = fileURLToPath(new URL('../python/bench/lora_step.py', import.meta.url));

export async function timePytorch(
  config: DecoderConfig,
  options: {
    tokens: number;
    prompt?: number;
    group?: number;
    steps: number;
    threads: number;
    dtype: 'float32' | 'bfloat16';
  },
): Promise<TrainingTimes | null> {
  const python = process.env['WHETSTONE_PYTHON'];
  if (!python) return null;
  const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child = spawn(python, [SCRIPT, ...flags], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(JSON.stringify(configJson(config)));
  let output = '';
  for await (const chunk of child.stdout) output += String(chunk);
  return JSON.parse(output) as TrainingTimes;
}
