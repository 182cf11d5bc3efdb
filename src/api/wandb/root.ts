// The root fields of all GraphQL operations. Mutations need the scope that training needs.
import { artifactById } from './artifact.ts';
import * as upload from './artifact-upload.ts';
import { createRunFiles, deleteRun, upsertBucket, type UpsertBucketInput } from './run.ts';
import { entityFields } from './names.ts';
import { collectionById } from './project-artifacts.ts';
import { projectFields, viewerFields } from './project.ts';
import { requireTrain, type RequestContext } from './request-context.ts';
import type { Root } from './execute.ts';

interface Named {
  readonly name?: string | null;
  readonly entityName?: string | null;
}

export const createRoot = (context: RequestContext): Root => ({
  query: {
    viewer: () => viewerFields(context),
    serverInfo: { features: [] }, // each listed feature would make clients send different queries
    entity: ({ name }: Named) => (!name || name === context.caller.entity ? entityFields(context.caller.entity) : null),
    model: ({ name, entityName }: Named) => projectFields(context, entityName, name),
    project: ({ name, entityName }: Named) => projectFields(context, entityName, name),
    artifact: ({ id }: { id: string }) => artifactById(context, id),
    artifactCollection: ({ id }: { id: string }) => collectionById(context, id),
    clientIDMapping: ({ clientID }: { clientID: string }) => ({
      serverID: () => context.services.artifactDrafts.idOf(context.caller, clientID),
    }),
  },
  mutation: withTrain(context, {
    upsertModel: async ({ input }: { input: Named }) => {
      const project = projectFields(context, input.entityName, input.name);
      return { inserted: false, project, model: project };
    },
    upsertBucket: ({ input }: { input: UpsertBucketInput }) => upsertBucket(context, input),
    deleteRun: ({ input }: { input: Parameters<typeof deleteRun>[1] }) => deleteRun(context, input),
    createRunFiles: ({ input }: { input: Parameters<typeof createRunFiles>[1] }) => createRunFiles(context, input),
    ...artifactMutations(context),
    markRunFilesUploaded: async () => ({ success: true }),
  }),
});

function artifactMutations(context: RequestContext): Readonly<Record<string, Resolver>> {
  const asking =
    <T>(answer: (context: RequestContext, input: T) => unknown): Resolver =>
    ({ input }: { input: T }) =>
      answer(context, input);
  return {
    createArtifact: asking(upload.createArtifact),
    createArtifactManifest: asking(upload.createArtifactManifest),
    createArtifactFiles: asking(upload.createArtifactFiles),
    commitArtifact: asking(upload.commitArtifact),
    updateArtifact: asking(upload.updateArtifact),
    deleteArtifact: asking(upload.deleteArtifact),
    addAliases: asking(upload.addAliases),
    deleteAliases: asking(upload.deleteAliases),
    useArtifact: asking(upload.useArtifact),
  };
}

type Resolver = (args: never) => unknown;

function withTrain(
  context: RequestContext,
  resolvers: Readonly<Record<string, Resolver>>,
): Readonly<Record<string, Resolver>> {
  const guarded =
    (resolve: Resolver): Resolver =>
    (args) => {
      requireTrain(context.caller);
      return resolve(args);
    };
  return Object.fromEntries(Object.entries(resolvers).map(([name, resolve]) => [name, guarded(resolve)]));
}
