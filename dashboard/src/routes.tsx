// The pages, one line each. Those with `nav` appear in the navigation, in this order.
import type { ComponentType } from 'preact';
import { ANSWERS_PATH } from './evaluations/evaluations.ts';
import { AnswersPage } from './pages/answers.tsx';
import { ArtifactPage } from './pages/artifact.tsx';
import { EPISODE_PATH, EPISODES_PATH } from './episodes/addresses.ts';
import { DataPage } from './pages/data.tsx';
import { JobGroupPage, LoggedGroupPage } from './pages/group.tsx';
import { EpisodePage } from './pages/episode.tsx';
import { EpisodesPage } from './pages/episodes.tsx';
import { Home } from './pages/home.tsx';
import { PlaygroundPage } from './pages/playground.tsx';
import { JOBS_PATH } from './jobs/job-cells.tsx';
import { JobsPage } from './pages/jobs.tsx';
import { JobPage } from './pages/job.tsx';
import { Keys } from './pages/keys.tsx';
import { ModelPage } from './pages/model.tsx';
import { RUN_PATH, RUN_PROJECT_PATH, RUNS_PATH } from './runs/addresses.ts';
import { RunPage } from './pages/run.tsx';
import { RunProjectPage } from './pages/run-project.tsx';
import { RunProjectsPage } from './pages/runs.tsx';
import { Workers } from './pages/workers.tsx';
import { TrajectoriesPage } from './pages/trajectories.tsx';
import type { PageProps } from './router.ts';

export interface Route {
  readonly path: string;
  readonly title: string;
  readonly nav?: true;
  readonly page: ComponentType<PageProps>;
}

export const ROUTES: readonly Route[] = [
  { path: '/', title: 'Home', nav: true, page: Home },
  { path: JOBS_PATH, title: 'Jobs', nav: true, page: JobsPage },
  { path: '/models/{id}', title: 'Model', page: ModelPage },
  { path: '/jobs/{id}', title: 'Job', page: JobPage },
  { path: '/jobs/{id}/groups/{group}', title: 'Group', page: JobGroupPage },
  { path: '/models/{id}/logs/{log}/groups/{group}', title: 'Logged group', page: LoggedGroupPage },
  { path: '/models/{id}/trajectories', title: 'Trajectories', page: TrajectoriesPage },
  { path: ANSWERS_PATH, title: 'Held-out answers', page: AnswersPage },
  { path: EPISODES_PATH, title: 'Episodes', nav: true, page: EpisodesPage },
  { path: EPISODE_PATH, title: 'Episode', page: EpisodePage },
  { path: RUNS_PATH, title: 'Runs', nav: true, page: RunProjectsPage },
  { path: RUN_PROJECT_PATH, title: 'Runs of a project', page: RunProjectPage },
  { path: RUN_PATH, title: 'Run', page: RunPage },
  { path: '/playground', title: 'Playground', nav: true, page: PlaygroundPage },
  { path: '/data', title: 'Data', nav: true, page: DataPage },
  { path: '/data/{entity}/{project}/{artifact}', title: 'Artifact', page: ArtifactPage },
  { path: '/keys', title: 'Keys and usage', nav: true, page: Keys },
  { path: '/workers', title: 'Workers', nav: true, page: Workers },
];
