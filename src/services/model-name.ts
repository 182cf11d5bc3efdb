// What a client may write as `model` to call a trained model: `wandb-artifact:///entity/project/name[:latest|:stepN|:vN]`
// (two or three slashes, also `artifact:`), or `entity/project/name[@N|@latest]`. Base models are looked up before.

export interface ModelName {
  readonly entity: string;
  readonly project: string;
  readonly name: string;
  /** Null: the latest. */
  readonly step: number | null;
}

const ARTIFACT = /^(?:wandb-)?artifact:\/{2,3}([^/]+)\/([^/]+)\/([^/:]+)(?::(?:latest|(?:step|v)(\d{1,15})))?$/;
const PLAIN = /^([^/@]+)\/([^/@]+)\/([^/@]+)(?:@(?:latest|(\d{1,15})))?$/;

/** Null: not the name of a trained model. */
export function parseModelName(text: string): ModelName | null {
  const match = ARTIFACT.exec(text) ?? (text.includes(':') ? null : PLAIN.exec(text));
  if (!match) return null;
  const [, entity, project, name, step] = match;
  return { entity: entity!, project: project!, name: name!, step: step === undefined ? null : Number(step) };
}

/** The served name of one checkpoint. A version is a step here: one job, one checkpoint. */
export const checkpointName = (model: Omit<ModelName, 'step'>, step: number): string =>
  `${modelName(model)}:step${step}`;

export const modelName = ({ entity, project, name }: Omit<ModelName, 'step'>): string =>
  `wandb-artifact:///${entity}/${project}/${name}`;
