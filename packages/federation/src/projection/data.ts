/** The merged responses of services. Field names may coincide with properties that all objects inherit. */
export type Data = Record<string, unknown>;
