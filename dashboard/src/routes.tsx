// The pages, one line each. Those with `nav` appear in the navigation, in this order. `help`: the page of the documentation about it.
import type { ComponentType } from 'preact';
import { ANSWERS_PATH } from './evaluations/evaluations.ts';
import { AnswersPage } from './pages/answers.tsx';
import { ArtifactPage } from './pages/artifact.tsx';
import { EPISODE_PATH, EPISODES_PATH } from './episodes/addresses.ts';
import { DOCUMENTATION_PAGE, DOCUMENTATION_PATH } from './documentation/pages.ts';
import { DataPage } from './pages/data.tsx';
import { DocumentationPage, DocumentPage } from './pages/documentation.tsx';
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
  readonly help?: string;
  readonly page: ComponentType<PageProps>;
}

export const ROUTES: readonly Route[] = [
  { path: '/', title: 'Home', nav: true, help: 'glossary', page: Home },
  { path: JOBS_PATH, title: 'Jobs', nav: true, help: 'training', page: JobsPage },
  { path: '/models/{id}', title: 'Model', help: 'training', page: ModelPage },
  { path: '/jobs/{id}', title: 'Job', help: 'training', page: JobPage },
  { path: '/jobs/{id}/groups/{group}', title: 'Group', help: 'read-side', page: JobGroupPage },
  { path: '/models/{id}/logs/{log}/groups/{group}', title: 'Logged group', help: 'read-side', page: LoggedGroupPage },
  { path: '/models/{id}/trajectories', title: 'Trajectories', help: 'read-side', page: TrajectoriesPage },
  { path: ANSWERS_PATH, title: 'Held-out answers', help: 'evaluation', page: AnswersPage },
  { path: EPISODES_PATH, title: 'Episodes', nav: true, help: 'episodes', page: EpisodesPage },
  { path: EPISODE_PATH, title: 'Episode', help: 'episodes', page: EpisodePage },
  { path: RUNS_PATH, title: 'Runs', nav: true, help: 'wandb', page: RunProjectsPage },
  { path: RUN_PROJECT_PATH, title: 'Runs of a project', help: 'wandb', page: RunProjectPage },
  { path: RUN_PATH, title: 'Run', help: 'wandb', page: RunPage },
  { path: '/playground', title: 'Playground', nav: true, help: 'chat', page: PlaygroundPage },
  { path: '/data', title: 'Data', nav: true, help: 'training', page: DataPage },
  { path: '/data/{entity}/{project}/{artifact}', title: 'Artifact', help: 'training', page: ArtifactPage },
  { path: '/keys', title: 'Keys and usage', nav: true, help: 'keys', page: Keys },
  { path: '/workers', title: 'Workers', nav: true, help: 'cluster', page: Workers },
  { path: DOCUMENTATION_PATH, title: 'Documentation', page: DocumentationPage },
  { path: DOCUMENTATION_PAGE, title: 'Documentation', page: DocumentPage },
];
