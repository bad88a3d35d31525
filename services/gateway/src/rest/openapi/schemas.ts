import { z } from 'zod';
import { type Bytes, type Endpoint, isBytes } from '../endpoint.ts';

/** A JSON Schema (2020-12), as far as its keywords are read here. */
export interface JsonSchema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonSchema[];
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: boolean | JsonSchema;
  description?: string;
  [keyword: string]: unknown;
}

export function schemasOf(endpoints: readonly Endpoint[], errors: readonly z.ZodType[]): Record<string, JsonSchema> {
  const inputs = endpoints.map(({ bodySchema }) => bodySchema);
  const outputs = endpoints.flatMap(({ responseSchema, lineSchema }) => [responseSchema, lineSchema]);
  return { ...named(inputs.filter(isJson), 'input'), ...named([...outputs.filter(isJson), ...errors], 'output') };
}

const isJson = (schema: Endpoint['bodySchema']): schema is z.ZodType => schema !== undefined && !isBytes(schema);

/** JSON Schemas by their `meta` id; shared parts become references. */
function named(schemas: readonly z.ZodType[], io: 'input' | 'output'): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>();
  for (const schema of new Set(schemas.flatMap(withParts))) registry.add(schema, { id: idOf(schema) });
  const made = z.toJSONSchema(registry, {
    io,
    uri: (id) => `#/components/schemas/${id}`,
    override: ({ jsonSchema }) => {
      // zod bounds integers by the safe range of a double, which says nothing about our limits.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      // openapi-generator turns closed objects into maps, and responses may get more fields in the future.
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      // openapi-generator's Python client compares a boolean with the text "true".
      if (jsonSchema.type === 'boolean') delete jsonSchema.const;
      // Client generators make a field with a default mandatory: right for responses, wrong for request bodies.
      if (io === 'input' && jsonSchema.default !== undefined) {
        const sentence = `Default: \`${String(jsonSchema.default)}\`.`;
        jsonSchema.description = jsonSchema.description ? `${jsonSchema.description} ${sentence}` : sentence;
        delete jsonSchema.default;
      }
      for (const [name, property] of Object.entries(jsonSchema.properties ?? {}))
        if (typeof property === 'object' && property.isDescribed === false) delete jsonSchema.properties?.[name];
    },
  });
  return Object.fromEntries(
    Object.entries(made.schemas).map(([id, { $schema: _schema, $id: _id, id: _name, ...schema }]) => [
      id,
      JSON.parse(JSON.stringify(schema), withNullAsType) as JsonSchema, // what zod generates for the schemas used here
    ]),
  );
}

/** Not all generators understand `anyOf` with null. */
function withNullAsType(_name: string, part: JsonSchema | null): unknown {
  const [inner, other, ...others] = part?.anyOf ?? [];
  if (!part || typeof inner?.type !== 'string' || other?.type !== 'null' || others.length > 0) return part;
  const { anyOf: _anyOf, ...outer } = part;
  return {
    ...inner,
    ...outer,
    type: [inner.type, 'null'],
    ...(inner.enum && { enum: [...inner.enum, null] }),
  };
}

function withParts(schema: z.ZodType): z.ZodType[] {
  const fields = schema instanceof z.ZodObject ? Object.values<z.ZodType>(schema.shape) : [];
  const inner = fields.map((field) => (field instanceof z.ZodArray ? (field.element as z.ZodType) : field));
  return [schema, ...inner.filter((field) => field.meta()?.id !== undefined)];
}

/** Describes a body: JSON with a named schema, and with an example if it has one, or bytes. */
export function contentOf(
  schema: z.ZodType | Bytes<unknown>,
): Record<string, { schema: JsonSchema; example?: unknown }> {
  if (!isBytes(schema)) return { 'application/json': mediaOf(schema) };
  const { mediaTypes, description } = schema;
  return Object.fromEntries(
    mediaTypes.map((type) => [type, { schema: { type: 'string', format: 'binary', description } }]),
  );
}

export function mediaOf(schema: z.ZodType) {
  const [example] = (schema.meta()?.['examples'] ?? []) as unknown[]; // as `bodyOf` sets them
  return { schema: { $ref: `#/components/schemas/${idOf(schema)}` }, ...(example !== undefined && { example }) };
}

export function idOf(schema: z.ZodType): string {
  const id = schema.meta()?.id;
  if (id === undefined) throw new Error('a schema of the API has no name');
  return id;
}
