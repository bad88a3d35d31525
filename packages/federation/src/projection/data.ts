/** What services have answered, merged. Names of fields may be those that all objects inherit. */
export type Data = Record<string, unknown>;
