// The client's names for wire types, compared with the types generated from the OpenAPI document and with those of the openai
// package. The compiler does the checking (npm run check:types).
import type OpenAI from 'openai';
import { expectTypeOf, test } from 'vitest';
import type * as Wire from '#client/client';
import type { paths } from '../../../dashboard/src/api/openapi.ts';

type Path = keyof paths;
type Json<T> = T extends { content: { 'application/json': infer Body } } ? Body : never;
type Answer<P extends Path, M extends 'get' | 'post' = 'get'> =
  paths[P] extends Record<M, { responses: { 200: infer Response } }> ? Json<Response> : never;
type Item<P extends Path> = Answer<P> extends { data: readonly (infer Row)[] } ? Row : never;
/** Fields by name: the server accepts others, and reports that it does not use them. */
type Field<P extends Path> =
  paths[P] extends Record<'post', { requestBody: infer Body }> ? keyof Named<Json<Body>> & string : never;
type Named<T> = { [Key in keyof T as string extends Key ? never : Key]: T[Key] };

type Job = '/v1/preview/training-jobs/{training_job_id}';
type Model = '/v1/preview/models/{model_id}';
type Episode = '/v1/preview/episodes/{episode}';

test('every answer of the server matches the client’s types', () => {
  expectTypeOf<Answer<'/v1/preview/models', 'post'>>().toExtend<Wire.Model>();
  expectTypeOf<Item<'/v1/preview/models'>>().toExtend<Wire.Model>();
  expectTypeOf<Item<`${Model}/checkpoints`>>().toExtend<Wire.Checkpoint>();
  expectTypeOf<Item<`${Model}/metrics`>>().toExtend<Wire.HistoryStep>();
  expectTypeOf<Item<`${Model}/evaluations`>>().toExtend<Wire.ModelEvaluation>();
  expectTypeOf<Answer<Job>>().toExtend<Wire.TrainingJob>();
  expectTypeOf<Item<'/v1/preview/training-jobs'>>().toExtend<Wire.TrainingJob>();
  expectTypeOf<Answer<`${Job}/config`>>().toExtend<Wire.JobConfig>();
  expectTypeOf<Item<`${Job}/groups`>>().toExtend<Wire.JobGroup>();
  expectTypeOf<Item<`${Job}/groups/{group}/tokens`>>().toExtend<Wire.TrajectoryTokens>();
  expectTypeOf<Answer<'/v1/preview/episodes', 'post'>>().toExtend<Wire.CreatedEpisode>();
  expectTypeOf<Item<'/v1/preview/episodes'>>().toExtend<Wire.EpisodeData>();
  expectTypeOf<Answer<Episode>>().toExtend<Wire.EpisodeWithCalls>();
  expectTypeOf<Item<`${Episode}/tokens`>>().toExtend<Wire.EpisodeCallTokens>();
  expectTypeOf<Answer<`${Episode}/reward`, 'post'>>().toExtend<Wire.EpisodeData>();
  expectTypeOf<Answer<`${Model}/online-training`>>().toExtend<Wire.OnlineTraining>();
  expectTypeOf<Item<'/v1/runs'>>().toExtend<Wire.Run>();
  expectTypeOf<Item<'/v1/run-projects'>>().toExtend<Wire.RunProject>();
  expectTypeOf<Item<'/v1/runs/{entity}/{project}/{run}/history'>>().toExtend<Wire.RunHistoryLine>();
  expectTypeOf<Answer<'/v1/runs/{entity}/{project}/{run}/curves'>>().toExtend<Wire.RunCurves>();
  expectTypeOf<Answer<'/v1/usage/sums'>>().toExtend<Wire.UsageSums>();
  expectTypeOf<Item<'/v1/artifacts'>>().toExtend<Wire.Artifact>();
  expectTypeOf<Item<'/v1/workers'>>().toExtend<Wire.Worker>();
  type Answered = Item<`${Job}/evaluation/answers`>; // the document leaves the type of its messages open
  expectTypeOf<keyof Wire.AnsweredPrompt>().toExtend<keyof Answered>();
});

test('every field of a request is one that the server uses', () => {
  expectTypeOf<keyof Wire.RlJobRequest>().toExtend<Field<'/v1/preview/training-jobs'>>();
  expectTypeOf<keyof Wire.SftJobRequest>().toExtend<Field<'/v1/preview/sft-training-jobs'>>();
  expectTypeOf<keyof Wire.DpoJobRequest>().toExtend<Field<'/v1/preview/dpo-training-jobs'>>();
  type DpoConfig = keyof NonNullable<Wire.DpoJobRequest['config']>;
  type DpoBody = paths['/v1/preview/dpo-training-jobs']['post']['requestBody']['content']['application/json'];
  expectTypeOf<DpoConfig>().toExtend<keyof NonNullable<DpoBody['config']>>();
  expectTypeOf<keyof Wire.ChatRequest>().toExtend<Field<'/v1/chat/completions'>>();
  expectTypeOf<keyof Wire.EpisodeRequest>().toExtend<Field<'/v1/preview/episodes'>>();
  expectTypeOf<keyof Wire.RewardRequest>().toExtend<Field<`${Episode}/reward`>>();
  type OnlineBody = paths[`${Model}/online-training`]['put']['requestBody']['content']['application/json'];
  expectTypeOf<keyof Wire.OnlineTrainingRequest>().toExtend<keyof OnlineBody>();
  expectTypeOf<keyof Wire.LogRequest>().toExtend<Field<`${Model}/log`>>();
});

test('requests of the openai package fit, and answers can be sent back with it', () => {
  expectTypeOf<OpenAI.Chat.ChatCompletionCreateParamsNonStreaming>().toExtend<Wire.ChatRequest>();
  expectTypeOf<Wire.ChatChoice['message']>().toExtend<OpenAI.Chat.ChatCompletionMessageParam>();
  expectTypeOf<OpenAI.Chat.ChatCompletion.Choice>().toExtend<Wire.Trajectory['messages_and_choices'][number]>();
});
