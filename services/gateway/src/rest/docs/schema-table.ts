import type { JsonSchema, OpenApiDocument } from '../openapi/types.ts';
import { html, line, NOTHING, type Markup } from './html.ts';

type Schemas = OpenApiDocument['components']['schemas'];

interface Field {
  name: string;
  schema: JsonSchema;
  required: boolean;
}

/** The fields of an object, inner ones with dots, each with its type and rules. */
export function fieldTable(schema: JsonSchema, schemas: Schemas): Markup {
  const rows = fieldsOf(schema, schemas, '').map((field) => fieldRow(field, schemas));
  if (rows.length === 0) return NOTHING;
  return html`<table>
    <thead>
      <tr>
        <th>Field</th>
        <th>Type</th>
        <th>Rules</th>
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;
}

export function fieldRow({ name, schema, required }: Field, schemas: Schemas): Markup {
  return html`<tr>
    <td><code>${name}</code>${required ? html` <span class="must">required</span>` : NOTHING}</td>
    <td>${typeOf(schema, schemas)}</td>
    <td class="rule">${line(rulesOf(schema))}</td>
  </tr>`;
}

function fieldsOf(schema: JsonSchema, schemas: Schemas, path: string): Field[] {
  const { properties = {}, required = [] } = resolved(schema, schemas);
  return Object.entries(properties).flatMap(([name, property]) => {
    const field = { name: `${path}${name}`, schema: property, required: required.includes(name) };
    const inner = resolved(property, schemas);
    const items = inner.items && resolved(inner.items, schemas);
    if (items?.properties) return [field, ...fieldsOf(items, schemas, `${path}${name}[].`)];
    return [field, ...fieldsOf(inner, schemas, `${path}${name}.`)];
  });
}

/** The schema that a reference means. */
function resolved(schema: JsonSchema, schemas: Schemas): JsonSchema {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : (schemas[name] ?? schema);
}

function typeOf(schema: JsonSchema, schemas: Schemas): string {
  const { type, anyOf, items, enum: values, const: value, format } = resolved(schema, schemas);
  if (anyOf) return anyOf.map((option) => typeOf(option, schemas)).join(' or ');
  if (value !== undefined) return JSON.stringify(value);
  if (values) return values.map((choice) => JSON.stringify(choice)).join(' | ');
  if (items) return `array of ${typeOf(items, schemas)}`;
  if (Array.isArray(type)) return type.join(' or ');
  return format === undefined ? (type ?? 'any') : `${type} (${format})`;
}

function rulesOf(schema: JsonSchema): string {
  const {
    minLength = 0,
    maxLength,
    minimum,
    maximum,
    default: byDefault,
    description,
  } = { ...schema.anyOf?.[0], ...schema };
  return [
    description,
    maxLength !== undefined &&
      (minLength > 0 ? `${minLength} to ${maxLength} characters.` : `At most ${maxLength} characters.`),
    minimum !== undefined && maximum !== undefined && `${minimum} to ${maximum}.`,
    byDefault !== undefined && `Default: \`${String(byDefault)}\`.`,
  ]
    .filter((rule) => typeof rule === 'string')
    .join(' ');
}
