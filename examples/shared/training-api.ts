// The training side of the API with nothing but fetch: register a model, submit a job, wait for its end.

const JOB_DEADLINE_MS = 120_000;
const POLL_MS = 100;

export interface Model {
  readonly id: string;
  readonly entity: string;
  readonly project: string;
  readonly name: string;
}

export interface Trajectory {
  readonly messages_and_choices: readonly unknown[];
  readonly tools?: readonly unknown[];
  readonly reward: number;
}

export interface TrajectoryGroup {
  readonly trajectories: readonly Trajectory[];
}

interface TrainingEvent {
  readonly id: string;
  readonly type: 'training_started' | 'gradient_step' | 'training_ended' | 'training_failed';
  readonly data: Readonly<Record<string, unknown>>;
}

export class TrainingApi {
  readonly #baseUrl: string;
  readonly #apiKey: string;

  constructor(baseUrl: string, apiKey: string) {
    this.#baseUrl = baseUrl;
    this.#apiKey = apiKey;
  }

  registerModel(project: string, name: string, baseModel: string): Promise<Model> {
    return this.#call('POST', '/v1/preview/models', { project, name, base_model: baseModel, return_existing: true });
  }

  /** Resolves with the number of gradient steps, once the new checkpoint can be called. */
  async train(
    model: Model,
    groups: readonly TrajectoryGroup[],
    config: Readonly<Record<string, unknown>>,
  ): Promise<number> {
    const body = { model_id: model.id, trajectory_groups: groups, experimental_config: config };
    const { id } = await this.#call<{ id: string }>('POST', '/v1/preview/training-jobs', body);
    const deadline = Date.now() + JOB_DEADLINE_MS;
    let after = '';
    let steps = 0;
    while (Date.now() < deadline) {
      const query = after === '' ? '' : `?after=${after}`;
      const { data } = await this.#call<{ data: TrainingEvent[] }>(
        'GET',
        `/v1/preview/training-jobs/${id}/events${query}`,
      );
      for (const event of data) {
        after = event.id;
        if (event.type === 'gradient_step') steps++;
        if (event.type === 'training_ended') return steps;
        if (event.type === 'training_failed')
          throw new Error(`training job ${id} failed: ${String(event.data['error_message'])}`);
      }
      if (data.length === 0) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    throw new Error(`training job ${id} did not end within ${JOB_DEADLINE_MS / 1000} s`);
  }

  async #call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(`${this.#baseUrl}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#apiKey}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }
}
