// The objects that a client of the API names: a generated one has them under these names, in every language.
export const MAIN_OBJECTS = [
  ...['AnsweredPrompt', 'ApiKey', 'Artifact', 'ChatCompletion', 'ChatCompletionRequest', 'Checkpoint', 'DpoJobRequest'],
  ...[
    'EmbeddingList',
    'Episode',
    'EpisodeCall',
    'Error',
    'Evaluation',
    'HistoryStep',
    'JobConfig',
    'JobGroup',
    'KeyLimits',
  ],
  ...['LoraConfig', 'Message', 'MessagesRequest', 'Model', 'ModelSummary', 'OnlineTraining', 'OpenAIModel', 'Overview'],
  ...['Response', 'RlJobRequest', 'Run', 'SftJobRequest', 'TextCompletion', 'TinkerRun', 'Tool', 'TrainingJob'],
  ...['TrainingJobEvent', 'Trajectory', 'TrajectoryGroup', 'UsageSum', 'Webhook', 'Worker'],
];
