// Names for the API's response types, taken from its description (openapi.ts).
import type { Answer, Item } from './client.ts';

export type Model = Item<'/v1/preview/models'>;
export type ModelDetail = Answer<'/v1/preview/models/{model_id}'>;
export type Checkpoint = Item<'/v1/preview/models/{model_id}/checkpoints'>;
export type HistoryStep = Item<'/v1/preview/models/{model_id}/metrics'>;
export type ListedJob = Item<'/v1/preview/training-jobs'>;
/** What all answers with jobs have. */
export type Job = Omit<ListedJob, 'model_name' | 'reward' | 'loss' | 'seconds'>;
export type JobDetail = Answer<'/v1/preview/training-jobs/{training_job_id}'>;
export type JobGroup = Item<'/v1/preview/training-jobs/{training_job_id}/groups'>;
export type Episode = Item<'/v1/preview/episodes'>;
export type EpisodeWithCalls = Answer<'/v1/preview/episodes/{episode}'>;
export type EpisodeCall = EpisodeWithCalls['calls'][number];
export type ApiKey = Item<'/v1/keys'>;
export type Worker = Item<'/v1/workers'>;
export type Overview = Answer<'/v1/overview'>;
export type JobOfModel = Overview['running'][number];
export type ModelSummary = Item<'/v1/preview/model-summaries'>;
