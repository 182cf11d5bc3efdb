// The artifact part of the schema (schema.ts). Inputs also list fields that are ignored: the library queries the schema for the fields
// it may send, and omits all others.
export const ARTIFACT_SDL = /* GraphQL */ `
  enum ArtifactStorageLayout {
    V1
    V2
  }
  enum ArtifactManifestType {
    FULL
    PATCH
    INCREMENTAL
  }
  enum ArtifactDigestAlgorithm {
    MANIFEST_MD5
    MANIFEST_XXH128
  }
  enum ArtifactState {
    PENDING
    COMMITTED
    DELETED
  }

  extend type Query {
    artifact(id: ID!): Artifact
    artifactCollection(id: ID!): ArtifactCollection
    clientIDMapping(clientID: ID!): ClientIDMapping
  }
  type ClientIDMapping {
    serverID: ID!
  }

  extend type Project {
    artifact(name: String!, enableTracking: Boolean): Artifact
    artifactCollectionMembership(name: String!): ArtifactCollectionMembership
    artifactCollection(name: String!): ArtifactCollection
    artifactType(name: String!): ArtifactType
    artifactTypes(after: String, first: Int): ArtifactTypeConnection!
    artifactCollections(after: String, first: Int, filters: JSONString, order: String): ArtifactCollectionConnection!
  }

  type Artifact {
    id: ID!
    artifactSequence: ArtifactSequence!
    versionIndex: Int
    artifactType: ArtifactType!
    description: String
    metadata: JSONString
    ttlDurationSeconds: Int64
    ttlIsInherited: Boolean!
    tags: [Tag!]!
    historyStep: Int64
    state: ArtifactState!
    size: Int64!
    digest: String!
    digestAlgorithm: ArtifactDigestAlgorithm
    commitHash: String
    fileCount: Int64!
    createdAt: DateTime!
    updatedAt: DateTime
    aliases: [ArtifactAlias!]!
    currentManifest: ArtifactManifest
    files(after: String, first: Int, names: [String!]): FileConnection
    artifactMemberships: ArtifactCollectionMembershipConnection!
    createdBy: ArtifactCreator
    usedBy: RunConnection!
  }
  union ArtifactCreator = Run | User
  extend type Run {
    inputArtifacts(after: String, first: Int): ArtifactConnection!
    outputArtifacts(after: String, first: Int): ArtifactConnection!
  }
  type ArtifactConnection {
    totalCount: Int
    pageInfo: PageInfo!
    edges: [ArtifactEdge!]!
  }
  type ArtifactEdge {
    node: Artifact
    cursor: String!
  }
  type Tag {
    id: ID!
    name: String!
  }
  type ArtifactAlias {
    id: ID!
    alias: String!
    artifactCollection: ArtifactCollection
  }
  type ArtifactType {
    id: ID!
    name: String!
    description: String
    createdAt: DateTime
    artifactCollection(name: String!): ArtifactCollection
    artifactCollections(after: String, first: Int, filters: JSONString, order: String): ArtifactCollectionConnection!
  }
  type ArtifactTypeConnection {
    pageInfo: PageInfo!
    edges: [ArtifactTypeEdge!]!
  }
  type ArtifactTypeEdge {
    node: ArtifactType
    cursor: String!
  }
  type ArtifactCollectionConnection {
    totalCount: Int
    pageInfo: PageInfo!
    edges: [ArtifactCollectionEdge!]!
  }
  type ArtifactCollectionEdge {
    node: ArtifactCollection
    cursor: String!
  }
  type ArtifactAliasConnection {
    pageInfo: PageInfo!
    edges: [ArtifactAliasEdge!]!
  }
  type ArtifactAliasEdge {
    node: ArtifactAlias
  }
  interface ArtifactCollection {
    id: ID!
    name: String!
    description: String
    createdAt: DateTime
    updatedAt: DateTime
    project: Project
    defaultArtifactType: ArtifactType!
    tags: TagConnection!
    state: String
    aliases(after: String, first: Int): ArtifactAliasConnection!
    artifactMembership(aliasName: String!): ArtifactCollectionMembership
    artifacts(after: String, first: Int, order: String, filters: JSONString): VersionedArtifactConnection
  }
  type ArtifactSequence implements ArtifactCollection {
    id: ID!
    name: String!
    description: String
    createdAt: DateTime
    updatedAt: DateTime
    project: Project
    defaultArtifactType: ArtifactType!
    tags: TagConnection!
    state: String
    aliases(after: String, first: Int): ArtifactAliasConnection!
    artifactMembership(aliasName: String!): ArtifactCollectionMembership
    artifacts(after: String, first: Int, order: String, filters: JSONString): VersionedArtifactConnection
    latestArtifact: Artifact
  }
  type TagConnection {
    edges: [TagEdge!]!
  }
  type TagEdge {
    node: Tag!
  }
  type VersionedArtifactConnection {
    totalCount: Int
    pageInfo: PageInfo!
    edges: [VersionedArtifactEdge!]!
  }
  type VersionedArtifactEdge {
    version: String!
    node: Artifact!
    cursor: String!
  }
  type ArtifactCollectionMembershipConnection {
    edges: [ArtifactCollectionMembershipEdge!]!
  }
  type ArtifactCollectionMembershipEdge {
    node: ArtifactCollectionMembership
  }
  type ArtifactCollectionMembership {
    id: ID!
    versionIndex: Int
    createdAt: DateTime!
    aliases: [ArtifactAlias!]!
    artifactCollection: ArtifactCollection
    artifact: Artifact
    files(after: String, first: Int, names: [String!]): FileConnection
  }
  type ArtifactManifest {
    id: ID!
    file: File!
  }
  type FileConnection {
    edges: [FileEdge!]!
    pageInfo: PageInfo!
  }
  type FileEdge {
    node: File
    cursor: String!
  }
  type File {
    id: ID!
    name: String!
    directUrl: String
    storagePath: String
    uploadUrl: String
    uploadHeaders: [String!]
    uploadMultipartUrls: UploadUrls
    artifact: Artifact
  }
  type UploadUrls {
    uploadID: String!
    uploadUrlParts: [UploadUrlPart!]!
  }
  type UploadUrlPart {
    partNumber: Int64!
    uploadUrl: String!
  }

  extend type Mutation {
    createArtifact(input: CreateArtifactInput!): CreateArtifactPayload
    createArtifactManifest(input: CreateArtifactManifestInput!): CreateArtifactManifestPayload
    createArtifactFiles(input: CreateArtifactFilesInput!): CreateArtifactFilesPayload
    commitArtifact(input: CommitArtifactInput!): CommitArtifactPayload
    updateArtifact(input: UpdateArtifactInput!): UpdateArtifactPayload
    deleteArtifact(input: DeleteArtifactInput!): DeleteArtifactPayload
    addAliases(input: AddAliasesInput!): SuccessPayload
    deleteAliases(input: DeleteAliasesInput!): SuccessPayload
    useArtifact(input: UseArtifactInput!): UseArtifactPayload
  }
  type CreateArtifactPayload {
    artifact: Artifact
  }
  type CommitArtifactPayload {
    artifact: Artifact
  }
  type UpdateArtifactPayload {
    artifact: Artifact
  }
  type DeleteArtifactPayload {
    artifact: Artifact
  }
  type UseArtifactPayload {
    artifact: Artifact
  }
  type CreateArtifactManifestPayload {
    artifactManifest: ArtifactManifest!
  }
  type CreateArtifactFilesPayload {
    files: FileConnection!
  }

  input ArtifactAliasInput {
    artifactCollectionName: String
    entityName: String
    projectName: String
    alias: String!
  }
  input CreateArtifactInput {
    entityName: String
    projectName: String!
    runName: String
    artifactTypeName: String!
    artifactCollectionName: String
    artifactCollectionNames: [String!]
    digest: String!
    digestAlgorithm: ArtifactDigestAlgorithm
    description: String
    labels: JSONString
    aliases: [ArtifactAliasInput!]
    metadata: JSONString
    ttlDurationSeconds: Int64
    historyStep: Int64
    enableDigestDeduplication: Boolean
    distributedID: String
    clientID: ID!
    sequenceClientID: ID
    storageRegion: String
    tags: [TagInput!]
    clientMutationId: String
  }
  input TagInput {
    tagName: String!
    attributes: JSONString
  }
  input CreateArtifactManifestInput {
    artifactID: ID!
    baseArtifactID: ID
    name: String!
    digest: String!
    entityName: String!
    projectName: String!
    runName: String!
    type: ArtifactManifestType
    clientMutationId: String
  }
  input CreateArtifactFilesInput {
    artifactFiles: [CreateArtifactFileSpecInput!]!
    storageLayout: ArtifactStorageLayout
    cloudRegionID: String
    clientMutationId: String
  }
  input CreateArtifactFileSpecInput {
    artifactID: ID!
    artifactManifestID: ID
    name: String!
    md5: String!
    mimetype: String
    uploadPartsInput: [UploadPartsInput!]
  }
  input UploadPartsInput {
    partNumber: Int64!
    hexMD5: String!
  }
  input CommitArtifactInput {
    artifactID: ID!
    clientMutationId: String
  }
  input UpdateArtifactInput {
    artifactID: ID!
    description: String
    metadata: JSONString
    labels: JSONString
    aliases: [ArtifactAliasInput!]
    tagsToAdd: [TagInput!]
    tagsToDelete: [TagInput!]
    ttlDurationSeconds: Int64
    clientMutationId: String
  }
  input DeleteArtifactInput {
    artifactID: ID!
    deleteAliases: Boolean
    clientMutationId: String
  }
  input UseArtifactInput {
    entityName: String!
    projectName: String!
    runName: String!
    artifactID: ID!
    usedAs: String
    artifactEntityName: String
    artifactProjectName: String
    clientMutationId: String
  }
  input AddAliasesInput {
    artifactID: ID!
    aliases: [ArtifactAliasInput!]!
    clientMutationId: String
  }
  input DeleteAliasesInput {
    artifactID: ID!
    aliases: [ArtifactAliasInput!]!
    clientMutationId: String
  }
`;
