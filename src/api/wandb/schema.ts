// The part of the W&B API that Whetstone implements, as a GraphQL schema. Names and types are those of the library's documents
// (wandb 0.25 to 0.31); an unknown field is an error with its name, never null, which the library would treat as an answer.
import { buildSchema, GraphQLScalarType, Kind, type GraphQLSchema } from 'graphql';
import { ARTIFACT_SDL } from './artifact-sdl.ts';

const SDL = /* GraphQL */ `
  scalar JSONString
  scalar JSON
  scalar Int64
  scalar DateTime

  type Query {
    viewer: User
    serverInfo: ServerInfo!
    entity(name: String): Entity
    model(name: String, entityName: String): Project
    project(name: String, entityName: String): Project
  }

  type Mutation {
    upsertModel(input: UpsertModelInput!): UpsertModelPayload
    upsertBucket(input: UpsertBucketInput!): UpsertBucketPayload
    createRunFiles(input: CreateRunFilesInput!): CreateRunFilesPayload
    markRunFilesUploaded(input: MarkRunFilesUploadedInput!): SuccessPayload
  }

  type ServerInfo {
    features: [ServerFeature!]!
  }
  type ServerFeature {
    name: String!
    isEnabled: Boolean!
  }

  type User {
    id: ID!
    name: String
    username: String
    email: String
    admin: Boolean
    flags: JSONString
    entity: String
    defaultEntity: Entity
    deletedAt: DateTime
    apiKeys: ApiKeyConnection
    teams: EntityConnection
  }
  type ApiKeyConnection {
    edges: [ApiKeyEdge!]!
  }
  type ApiKeyEdge {
    node: ApiKey
  }
  type ApiKey {
    id: ID!
    name: String
    description: String
  }
  type EntityConnection {
    edges: [EntityEdge!]!
  }
  type EntityEdge {
    node: Entity
  }
  type Entity {
    id: ID!
    name: String!
    organization: Organization
  }
  type Organization {
    name: String
    coreWeaveOrganizationId: String
    orgEntity: Entity
  }

  type Project {
    id: ID!
    internalId: ID!
    name: String!
    entityName: String!
    entity: Entity!
    readOnly: Boolean
    createdAt: DateTime
    run(name: String!): Run
    bucket(name: String!, missingOk: Boolean): Run
    runs(after: String, first: Int, order: String, filters: JSONString): RunConnection
    runCount(filters: JSONString): Int
  }
  type RunConnection {
    totalCount: Int
    edges: [RunEdge!]!
    pageInfo: PageInfo!
  }
  type RunEdge {
    node: Run!
    cursor: String!
  }
  type PageInfo {
    endCursor: String
    hasNextPage: Boolean!
  }

  type Run {
    id: ID!
    internalId: ID
    projectId: String
    name: String!
    displayName: String
    description: String
    notes: String
    tags: [String!]
    group: String
    jobType: String
    sweepName: String
    state: String
    commit: String
    readOnly: Boolean
    config: JSONString
    summaryMetrics: JSONString
    systemMetrics: JSONString
    wandbConfig(keys: [String!]): JSONString
    createdAt: DateTime
    updatedAt: DateTime
    heartbeatAt: DateTime
    user: User
    project: Project
    logLineCount: Int
    historyLineCount: Int
    eventsLineCount: Int
    historyTail: JSONString
    eventsTail: JSONString
    historyKeys: JSON
    history(minStep: Int64, maxStep: Int64, samples: Int): [JSONString!]
    sampledHistory(specs: [JSONString!]!): [JSON]
    parquetHistory(liveKeys: [String!]): ParquetHistory
  }
  type ParquetHistory {
    parquetUrls: [String!]!
    liveData: [JSON]
  }

  input UpsertModelInput {
    id: String
    name: String
    entityName: String
    description: String
    framework: String
    access: String
    views: JSONString
  }
  type UpsertModelPayload {
    inserted: Boolean
    project: Project
    model: Project
  }

  input UpsertBucketInput {
    id: String
    name: String
    modelName: String
    entityName: String
    groupName: String
    description: String
    displayName: String
    notes: String
    commit: String
    config: JSONString
    host: String
    debug: Boolean
    jobProgram: String
    jobRepo: String
    jobType: String
    state: String
    sweep: String
    tags: [String!]
    summaryMetrics: JSONString
  }
  type UpsertBucketPayload {
    bucket: Run!
    inserted: Boolean!
  }

  input CreateRunFilesInput {
    entityName: String!
    projectName: String!
    runName: String!
    files: [String!]!
  }
  type CreateRunFilesPayload {
    runID: ID!
    uploadHeaders: [String!]!
    files: [RunFile!]!
  }
  type RunFile {
    name: String!
    uploadUrl: String
  }
  input MarkRunFilesUploadedInput {
    entityName: String!
    projectName: String!
    runName: String!
    files: [String!]!
  }
  type SuccessPayload {
    success: Boolean!
  }
`;

/** Values pass unchanged: JSON text is parsed where it is used. */
const plain = (scalar: GraphQLScalarType): void => {
  scalar.parseLiteral = (node) =>
    node.kind === Kind.STRING || node.kind === Kind.INT || node.kind === Kind.FLOAT ? node.value : null;
};

export function createSchema(): GraphQLSchema {
  const schema = buildSchema(SDL + ARTIFACT_SDL);
  for (const type of Object.values(schema.getTypeMap())) if (type instanceof GraphQLScalarType && !SPECIFIED.has(type.name)) plain(type); // prettier-ignore
  return schema;
}

const SPECIFIED = new Set(['String', 'Int', 'Float', 'Boolean', 'ID']);
