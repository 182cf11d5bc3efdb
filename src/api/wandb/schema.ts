// The part of the W&B API that Whetstone implements, as a GraphQL schema. Names and types are those of the library's documents
// (wandb 0.25 to 0.31); an unknown field is an error with its name, never null, which the library would treat as an answer.
import { readFileSync } from 'node:fs';
import { buildSchema, GraphQLScalarType, Kind, type GraphQLSchema } from 'graphql';

const SDL = ['schema', 'artifact']
  .map((name) => readFileSync(new URL(`./${name}.graphql`, import.meta.url), 'utf8'))
  .join('\n');

/** Values pass unchanged: JSON text is parsed where it is used. */
const plain = (scalar: GraphQLScalarType): void => {
  scalar.parseLiteral = (node) =>
    node.kind === Kind.STRING || node.kind === Kind.INT || node.kind === Kind.FLOAT ? node.value : null;
};

export function createSchema(): GraphQLSchema {
  const schema = buildSchema(SDL);
  for (const type of Object.values(schema.getTypeMap())) {
    if (type instanceof GraphQLScalarType && !SPECIFIED.has(type.name)) plain(type);
  }
  return schema;
}

const SPECIFIED = new Set(['String', 'Int', 'Float', 'Boolean', 'ID']);
