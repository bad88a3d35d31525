import type { JsonSchema } from '../services/gateway/src/rest/openapi/schemas.ts';

/** Generates a type for each schema, under its name. Supports the kinds of schemas that our API description uses. */
export function typescriptOf(schemas: Record<string, JsonSchema>): string {
  return Object.entries(schemas)
    .map(([name, schema]) => `export type ${name} = ${typeOf(schema, '')};\n`)
    .join('\n');
}

function typeOf(schema: JsonSchema, indent: string): string {
  const { $ref, type, enum: values, anyOf, items } = schema;
  if ($ref) return $ref.slice($ref.lastIndexOf('/') + 1);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (values) return values.map((value) => JSON.stringify(value)).join(' | ');
  if (anyOf) return anyOf.map((each) => typeOf(each, indent)).join(' | ');
  if (Array.isArray(type)) return type.map((each) => typeOf({ ...schema, type: each }, indent)).join(' | ');
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type;
    case 'number':
    case 'integer':
      return 'number';
    case 'array':
      return `Array<${typeOf(items ?? {}, indent)}>`;
    case 'object':
      return objectOf(schema, indent);
    default:
      throw new Error(`There is no type for ${JSON.stringify(schema)}.`);
  }
}

function objectOf({ properties, required = [], additionalProperties }: JsonSchema, indent: string): string {
  if (!properties && typeof additionalProperties === 'object')
    return `Record<string, ${typeOf(additionalProperties, indent)}>`;
  const inner = `${indent}  `;
  const lines = Object.entries(properties ?? {}).map(([name, schema]) => {
    const comment = schema.description ? `${inner}/** ${schema.description} */\n` : '';
    return `${comment}${inner}${name}${required.includes(name) ? '' : '?'}: ${typeOf(schema, inner)};\n`;
  });
  return `{\n${lines.join('')}${indent}}`;
}
