// Names as people write them: without what all models and artifacts of a team have in common. Pure.

/** `wandb-artifact:///team/demo/sums` is `demo/sums`; base models are as they are. */
export const shortName = (name: string): string => name.replace(/^wandb-artifact:\/{2,3}[^/]+\//, '');
