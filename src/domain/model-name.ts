// What a client may write to name a trained model, in chat requests, on the command line and where training starts from:
// `entity/project/name`, `project/name` of the key's own entity, or `wandb-artifact:///entity/project/name` (two or three slashes,
// also `artifact:`); each with nothing or `:latest` for its latest checkpoint, or `:stepN`, `:vN`, `@N`. Base models are looked up before.
// `--` may stand for each slash: some clients read what is before a slash as the name of a vendor.

export interface ModelName {
  /** Null: the entity of the key. */
  readonly entity: string | null;
  readonly project: string;
  readonly name: string;
  /** Null: the latest. */
  readonly step: number | null;
}

const STEP = '(?::latest|@latest|(?::step|:v|@)(?<step>\\d{1,15}))?';
const NAME = '(?<project>[^/:@]+)/(?<name>[^/:@]+)';
/** A part of a name that is written with `--` has none itself. */
const part = (name: string) => `(?<${name}>(?:(?!--)[^/:@])+)`;
const FORMS = [
  `(?:wandb-)?artifact:/{2,3}(?<entity>[^/:@]+)/${NAME}${STEP}`,
  `(?:(?<entity>[^/:@]+)/)?${NAME}${STEP}`,
  `(?:${part('entity')}--)?${part('project')}--${part('name')}${STEP}`,
].map((form) => new RegExp(`^${form}$`));

/** Of adapters that the server was started with; a name alone is looked up there. */
export const ADAPTERS_PROJECT = 'adapters';

/** A base model's id as it is where `--` stands for each slash. */
export const withSlashes = (id: string): string => id.replaceAll('--', '/');

/** Null: not the name of a trained model. */
export function parseModelName(text: string): ModelName | null {
  for (const form of FORMS) {
    const { entity, project, name, step } = form.exec(text)?.groups ?? {};
    if (project !== undefined && name !== undefined)
      return { entity: entity ?? null, project, name, step: step === undefined ? null : Number(step) };
  }
  return null;
}

/** Of a model that is there. */
type FullName = Omit<ModelName, 'step' | 'entity'> & { readonly entity: string };

/** The served name of one checkpoint. A version is a step here: one job, one checkpoint. */
export const checkpointName = (model: FullName, step: number): string => `${modelName(model)}:step${step}`;

export const modelName = ({ entity, project, name }: FullName): string =>
  `wandb-artifact:///${entity}/${project}/${name}`;
