// What a server says about a request, in the words of the command line: it names fields of bodies, whose flags often have other names, and
// ids of models, whose names the user typed.

/** Fields whose flag has another name. */
const FLAGS: Readonly<Record<string, string>> = {
  lr_scheduler_type: 'schedule',
  warmup_ratio: 'warmup',
  loss_type: 'loss',
  r: 'lora-rank',
  target_modules: 'lora-targets',
  use_rslora: 'rslora',
  from_checkpoint: 'from',
  start_date: 'from',
  end_date: 'to',
  api_key_id: 'key-id',
  groups_per_step: 'groups',
  group_size_min: 'group-size',
};

const flagOf = (field: string): string => `--${FLAGS[field] ?? field.replaceAll('_', '-')}`;

/** A refused field with its path, such as `body.config.epochs: `, and the name of the rule at the end, such as `(less_than_equal)`. */
const FIELD = /(^|; )(?:body|query)\.([\w.]+): /g;
const RULE = / \([a-z]+(?:_[a-z]+)*\)$/;

/** `flags`: those of the command in use, such as `--epochs`. A field that it has no flag for keeps its name. */
export function fieldsAsFlags(message: string, flags: readonly string[]): string {
  const renamed = message.replace(FIELD, (_, before: string, path: string) => {
    const flag = flagOf(path.split('.').at(-1)!);
    return `${before}${flags.includes(flag) ? flag : path}: `;
  });
  return renamed === message ? message : renamed.replace(RULE, '').replace(/[^.]$/, '$&.');
}

/** Names of models that were looked up, by id. */
const typed = new Map<string, string>();

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** `name`: as the user typed it. An id that is a word of its own could not be told from the message. */
export function noteName(id: string, name: string): void {
  if (UUID.test(id)) typed.set(id, name);
}

/** The ids of models that the user named otherwise, as he named them. */
export function idsAsNames(message: string): string {
  let named = message;
  for (const [id, name] of typed) named = named.replaceAll(id, name);
  return named;
}
