/** `wandb-artifact:///team/demo/sums:step4` is `demo/sums:step4`; base models are as they are. */
export const shortName = (name: string): string => name.replace(/^wandb-artifact:\/{2,3}[^/]+\//, '');
