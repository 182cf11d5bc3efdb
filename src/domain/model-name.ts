// How clients name a trained model, in chat requests, on the command line and as the starting point of training:
// `entity/project/name`, `project/name` of the key's own entity, or `wandb-artifact:///entity/project/name` (two or three slashes,
// also `artifact:`); each with nothing or `:latest` for its latest checkpoint, or `:stepN`, `:vN`, `@N`. Base models are looked up first.
// Each slash may be written as `--`: some clients take the part before a slash for the name of a vendor.

export interface ModelName {
  /** Null: the entity of the key. */
  readonly entity: string | null;
  readonly project: string;
  readonly name: string;
  /** Null: the latest step. */
  readonly step: number | null;
}

const STEP = '(?::latest|@latest|(?::step|:v|@)(?<step>\\d{1,15}))?';
const NAME = '(?<project>[^/:@]+)/(?<name>[^/:@]+)';
/** Parts of a name that is written with `--` contain no `--` themselves. */
const part = (name: string) => `(?<${name}>(?:(?!--)[^/:@])+)`;
const FORMS = [
  `(?:wandb-)?artifact:/{2,3}(?<entity>[^/:@]+)/${NAME}${STEP}`,
  `(?:(?<entity>[^/:@]+)/)?${NAME}${STEP}`,
  `(?:${part('entity')}--)?${part('project')}--${part('name')}${STEP}`,
].map((form) => new RegExp(`^${form}$`));

/** The project of adapters that the server was started with; a name without a project is looked up there. */
export const ADAPTERS_PROJECT = 'adapters';

/** The id of a base model, from a name in which `--` stands for each slash. */
export const withSlashes = (id: string): string => id.replaceAll('--', '/');

/** Returns null if the text does not name a trained model. */
export function parseModelName(text: string): ModelName | null {
  for (const form of FORMS) {
    const { entity, project, name, step } = form.exec(text)?.groups ?? {};
    if (project !== undefined && name !== undefined)
      return { entity: entity ?? null, project, name, step: step === undefined ? null : Number(step) };
  }
  return null;
}

/** The full name of an existing model. */
type FullName = Omit<ModelName, 'step' | 'entity'> & { readonly entity: string };

/** The name under which one checkpoint is served. Version numbers equal steps: one job makes one checkpoint. */
export const checkpointName = (model: FullName, step: number): string => `${modelName(model)}:step${step}`;

export const modelName = ({ entity, project, name }: FullName): string =>
  `wandb-artifact:///${entity}/${project}/${name}`;
