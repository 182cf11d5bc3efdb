// One GraphQL request: parsed, limited, validated, resolved. Failures become `errors`, of which the library shows the first to its
// user; those that the client retries by itself (too many requests, unavailable storage) keep their HTTP status.
import {
  defaultFieldResolver,
  execute,
  FieldsOnCorrectTypeRule,
  getOperationAST,
  GraphQLError,
  isNonNullType,
  KnownArgumentNamesRule,
  KnownTypeNamesRule,
  OperationTypeNode,
  parse,
  validate,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLFieldResolver,
  type GraphQLResolveInfo,
  type OperationDefinitionNode,
} from 'graphql';
import { AppError } from '#domain/errors';
import { errorResponse } from '../http/error-response.ts';
import type { AnswerBudget } from './answer-budget.ts';
import { refuseBombs, refuseDeepText, TOKENS_MAX } from './bounds.ts';
import { createSchema } from './schema.ts';

export interface GraphQLRequest {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly operationName: string | null;
}

export interface GraphQLAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly data: unknown; readonly errors?: readonly { readonly message: string }[] };
  /** Errors not caused by the client, for the log. */
  readonly failure: unknown;
}

const schema = createSchema();

export interface Root {
  readonly query: object;
  readonly mutation: object;
}

/** `begin` throws to refuse the request, or returns the root value. */
export async function answerGraphQL(
  request: GraphQLRequest,
  budget: AnswerBudget,
  begin: (kind: 'query' | 'mutation') => Root,
): Promise<GraphQLAnswer> {
  try {
    const { document, operation } = readDocument(request);
    const kind = operation.operation === OperationTypeNode.MUTATION ? 'mutation' : 'query';
    const result = execute({
      schema,
      document,
      rootValue: begin(kind)[kind],
      variableValues: request.variables,
      operationName: operation.name?.value ?? null,
      fieldResolver: resolveWithin(budget),
    });
    return toAnswer(await Promise.race([result, budget.ended]));
  } catch (error) {
    return refusal(error);
  }
}

/** Texts are counted as they are resolved; values that hold many are counted where they are read (run-history.ts). */
function resolveWithin(budget: AnswerBudget): GraphQLFieldResolver<unknown, unknown> {
  return (source, args, context, info) => {
    const check = (value: unknown): unknown => {
      if (value === undefined && isNonNullType(info.returnType)) throw unknownHere(info);
      if (typeof value === 'string') budget.text.spend(value.length);
      return value;
    };
    return budget.field(() => {
      const value = defaultFieldResolver(source, args, context, info);
      return value instanceof Promise ? value.then(check) : check(value); // a promise for each of many fields would cost more than they do
    });
  };
}

/** Some objects have only what the library asks of them there, such as an artifact that is being uploaded. */
const unknownHere = ({ parentType, fieldName }: GraphQLResolveInfo): AppError =>
  new AppError('invalid_request', `Whetstone does not know ${parentType.name}.${fieldName} here. Leave it out.`, {
    param: 'query',
  });

function readDocument({ query, operationName }: GraphQLRequest): {
  document: DocumentNode;
  operation: OperationDefinitionNode;
} {
  const named = operationName || null; // older clients send ''
  const unread = (why: string) =>
    new AppError('invalid_request', `Whetstone cannot read this GraphQL document: ${why}`, { param: 'query' });
  let document: DocumentNode;
  try {
    refuseDeepText(query);
    document = parse(query, { maxTokens: TOKENS_MAX });
  } catch (error) {
    throw error instanceof GraphQLError ? unread(error.message) : error;
  }
  refuseBombs(document);
  const operation = getOperationAST(document, named);
  if (!operation) throw unread(named === null ? 'it names no operation' : `it has no operation ${named}`);
  const name = operation.name?.value ?? 'This operation';
  const [unknown] = validate(schema, document, NAMING_RULES, { maxErrors: 1 });
  if (unknown)
    throw new AppError(
      'invalid_request',
      `${name} is not supported by Whetstone, which has a part of the W&B API: ${unknown.message} docs/wandb.md lists what is supported.`,
      { param: 'query' },
    );
  const [fault] = validate(schema, document, undefined, { maxErrors: 1 });
  if (fault) throw new AppError('invalid_request', `${name} is not valid: ${fault.message}`, { param: 'query' });
  return { document, operation };
}

/** A violation means that the client asked for something that W&B's API may have and ours does not. */
const NAMING_RULES = [FieldsOnCorrectTypeRule, KnownArgumentNamesRule, KnownTypeNamesRule];

function toAnswer({ data = null, errors = [] }: ExecutionResult): GraphQLAnswer {
  const [first] = errors;
  if (!first) return { status: 200, headers: {}, body: { data }, failure: null };
  const { originalError: cause } = first; // for errors of variables: none, or the executor's own
  return refusal(cause && !(cause instanceof GraphQLError) ? cause : new AppError('invalid_request', first.message));
}

/** Errors that the client retries keep their status; all others are answers. */
const REPEATED = new Set([429, 500, 503]);

function refusal(error: unknown): GraphQLAnswer {
  const { status, headers, body } = errorResponse(error);
  const message = body.error.message;
  const repeated = REPEATED.has(status);
  return {
    status: repeated ? status : 200,
    headers: repeated ? headers : {},
    body: { data: null, errors: [{ message }] },
    failure: status >= 500 ? error : null,
  };
}
