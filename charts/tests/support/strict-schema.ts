/** JSON Schema, and what Kubernetes adds to it, as far as anybody here looks at it. */
export interface Schema {
  type?: string | string[];
  nullable?: boolean;
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema | boolean;
  'x-kubernetes-group-version-kind'?: { group: string; version: string; kind: string }[];
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  [keyword: string]: unknown;
}

/**
 * The schema of a custom kind as JSON Schema that refuses what a server warns of and drops: fields that it does not name.
 * Alternatives (`oneOf` and the like) stay: they only narrow what is named around them.
 */
export function strictSchema(schema: Schema): Schema {
  const { type, nullable, properties, items, additionalProperties, ...others } = schema;
  const isClosed = properties && additionalProperties === undefined && !schema['x-kubernetes-preserve-unknown-fields'];
  return {
    ...others,
    ...(type && { type: nullable ? [type, 'null'].flat() : type }),
    ...(items && { items: strictSchema(items) }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, strictSchema(each)])),
    }),
    ...(isClosed && { additionalProperties: false }),
    ...(additionalProperties !== undefined && {
      additionalProperties:
        typeof additionalProperties === 'object' ? strictSchema(additionalProperties) : additionalProperties,
    }),
  };
}
