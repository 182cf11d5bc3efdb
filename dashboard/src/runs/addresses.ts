// Where the pages of runs are. The link that the `wandb` library prints leads there: src/api/http/run-links.ts has the same addresses.

export const RUNS_PATH = '/runs';
export const RUN_PROJECT_PATH = '/runs/{entity}/{project}';
export const RUN_PATH = '/runs/{entity}/{project}/{run}';
