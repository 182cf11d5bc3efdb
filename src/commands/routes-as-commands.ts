// The server's messages name routes; users of the command line need the corresponding command.
import { asCalled } from './as-called.ts';

const COMMANDS: Readonly<Record<string, string>> = {
  'GET /v1/preview/training-jobs': 'whetstone jobs list',
  'POST /v1/preview/training-jobs': 'whetstone train',
  'GET /v1/preview/models': 'whetstone models list',
  'GET /v1/models': 'whetstone models list',
  'POST /v1/preview/models': 'whetstone models create',
  'PUT /v1/preview/models/{}/labels': 'whetstone models tag',
  'PUT /v1/preview/models/{}/save-policy': 'whetstone models keep',
  'PUT /v1/preview/models/{}/online-training': 'whetstone models train-online {} --groups 4',
  'GET /v1/preview/episodes': 'whetstone episodes list',
  'POST /v1/preview/episodes/{}/reward': 'whetstone episodes reward',
  'GET /v1/artifacts': 'whetstone artifacts list',
  'GET /v1/keys': 'whetstone keys list',
  'GET /v1/webhooks': 'whetstone webhooks list',
  'POST /v1/webhooks': 'whetstone webhooks create',
};

/** A method and a path, without the full stop or comma behind them. */
const ROUTE = /(?:GET|POST|PUT|DELETE) \/v1(?:\/[\w{}-]+)+/g;

/** An id, or the name of a parameter. */
const PARAMETER = /\/(?:\{\w+\}|[\da-f]{8}-[\da-f-]{27})(?=\/|$)/g;

const ID = /\/([\da-f]{8}-[\da-f-]{27})(?=\/|$)/;

/** What a server says, in an event, a job or a finding, as a user of the command line has to read it. */
export const saidByServer = (message: string): string => asCalled(routesAsCommands(message));

/** Routes without a command stay. */
export const routesAsCommands = (message: string): string =>
  message.replace(ROUTE, (route) => {
    const command = COMMANDS[route.replace(PARAMETER, '/{}')];
    const [, model = 'project/name'] = ID.exec(route) ?? [];
    return command === undefined ? route : `\`${command.replace('{}', model)}\``;
  });
