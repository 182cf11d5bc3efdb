// Names as people write them: without what all models and artifacts of a team have in common. Pure.

/** `wandb-artifact:///team/demo/sums` is `demo/sums`; base models are as they are. */
export const shortName = (name: string): string => name.replace(/^wandb-artifact:\/{2,3}[^/]+\//, '');

/** As chat requests name it: `demo/sums:step10`. */
export const stepName = (
  { project, name }: { readonly project: string; readonly name: string },
  step: number,
): string => `${project}/${name}:step${step}`;
