// The two names of a function in a namespace: the client's, of two parts, and the one that the model reads.

export interface NamespacedName {
  readonly namespace: string;
  readonly name: string;
}

/** The name for the model. Tool-call syntaxes allow few characters besides letters, digits, `_` and `-`. */
export const joinedName = ({ namespace, name }: NamespacedName): string =>
  namespace.endsWith('_') ? `${namespace}${name}` : `${namespace}__${name}`;
