import { expect, test } from 'vitest';
import { settingLines } from './setting-lines.ts';

test('nested settings have the path to them as their name, and lists are texts', () => {
  const settings = {
    epochs: 2,
    loss_fn: 'cispo',
    kl_penalty_source: null,
    optimizer: { name: 'adamw', betas: [0.9, 0.99] },
    lora: { target_modules: ['q_proj', 'v_proj'], inner: { deep: true } },
    empty: {},
    none: [],
    parts: [{ a: 1 }],
  };
  expect(settingLines(settings)).toEqual([
    ['epochs', '2'],
    ['loss_fn', 'cispo'],
    ['kl_penalty_source', 'null'],
    ['optimizer.name', 'adamw'],
    ['optimizer.betas', '0.9, 0.99'],
    ['lora.target_modules', 'q_proj, v_proj'],
    ['lora.inner.deep', 'true'],
    ['empty', '{}'],
    ['none', '[]'],
    ['parts', '[{"a":1}]'],
  ]);
});
