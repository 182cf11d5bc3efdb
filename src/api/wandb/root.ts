// The root fields of all GraphQL operations. Mutations need the scope that training needs.
import { artifactById } from './artifact.ts';
import * as upload from './artifact-upload.ts';
import { createRunFiles, upsertBucket, type UpsertBucketInput } from './run.ts';
import { entityFields } from './names.ts';
import { collectionById } from './project-artifacts.ts';
import { projectFields, viewerFields } from './project.ts';
import { requireTrain, type Asked } from './asked.ts';
import type { Root } from './execute.ts';

interface Named {
  readonly name?: string | null;
  readonly entityName?: string | null;
}

export const createRoot = (asked: Asked): Root => ({
  query: {
    viewer: () => viewerFields(asked),
    serverInfo: { features: [] }, // each listed feature would make clients send different queries
    entity: ({ name }: Named) => (!name || name === asked.caller.entity ? entityFields(asked.caller.entity) : null),
    model: ({ name, entityName }: Named) => projectFields(asked, entityName, name),
    project: ({ name, entityName }: Named) => projectFields(asked, entityName, name),
    artifact: ({ id }: { id: string }) => artifactById(asked, id),
    artifactCollection: ({ id }: { id: string }) => collectionById(asked, id),
    clientIDMapping: ({ clientID }: { clientID: string }) => ({
      serverID: asked.services.artifactDrafts.idOf(asked.caller, clientID),
    }),
  },
  mutation: withTrain(asked, {
    upsertModel: async ({ input }: { input: Named }) => {
      const project = projectFields(asked, input.entityName, input.name);
      return { inserted: false, project, model: project };
    },
    upsertBucket: ({ input }: { input: UpsertBucketInput }) => upsertBucket(asked, input),
    createRunFiles: ({ input }: { input: Parameters<typeof createRunFiles>[1] }) => createRunFiles(asked, input),
    ...artifactMutations(asked),
    markRunFilesUploaded: async () => ({ success: true }),
  }),
});

function artifactMutations(asked: Asked): Readonly<Record<string, Resolver>> {
  const asking =
    <T>(answer: (asked: Asked, input: T) => unknown): Resolver =>
    ({ input }: { input: T }) =>
      answer(asked, input);
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

function withTrain(asked: Asked, resolvers: Readonly<Record<string, Resolver>>): Readonly<Record<string, Resolver>> {
  const guarded =
    (resolve: Resolver): Resolver =>
    (args) => {
      requireTrain(asked.caller);
      return resolve(args);
    };
  return Object.fromEntries(Object.entries(resolvers).map(([name, resolve]) => [name, guarded(resolve)]));
}
