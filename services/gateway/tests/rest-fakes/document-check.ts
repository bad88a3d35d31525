import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { OpenApiDocument } from '../../src/rest/openapi/document.ts';
import type { Header, JsonSchema, Operation, Response } from '../../src/rest/openapi/types.ts';

export interface Seen {
  method: string;
  /** With or without a query. */
  path: string;
  status: number;
  headers: Headers;
  text: string;
}

/** Checks real answers against the API description. */
export interface DocumentCheck {
  /** @throws Error that says what differs */
  check(seen: Seen): void;
  /** `METHOD /path status` of everything that was checked. */
  covered: Set<string>;
}

const LINES_TYPE = 'application/x-ndjson';

export function createDocumentCheck(document: OpenApiDocument): DocumentCheck {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  // The package's types do not match what an ES module gets from its CommonJS default.
  (formats as unknown as (ajv: Ajv2020) => void)(ajv);
  ajv.addSchema({ $id: 'api', components: JSON.parse(JSON.stringify(document.components), closed) });
  const compiled = new Map<string, ValidateFunction>();
  const covered = new Set<string>();

  const bodyCheck = (reference: string): ValidateFunction => {
    const known = compiled.get(reference) ?? ajv.compile({ $ref: `api${reference}` });
    compiled.set(reference, known);
    return known;
  };

  const check = ({ method, path, status, headers, text }: Seen) => {
    const found = find(document, method, path);
    if (!found) return;
    const { template, operation } = found;
    const where = `${method} ${template} ${status}`;
    const response = responseOf(document, operation, status);
    if (!response) throw new Error(`${where} is not described`);
    for (const [name, header] of Object.entries(response.headers ?? {})) {
      const { required = true } = '$ref' in header ? headerOf(document, header.$ref) : header;
      if (required && !headers.has(name)) throw new Error(`${where} lacks the header ${name}`);
    }
    const type = (headers.get('content-type') ?? '').replace(/^application\/json; charset=utf-8$/, 'application/json');
    const { content } = response;
    const media = content?.[type];
    if (content ? !media : type !== '') throw new Error(`${where} is no ${Object.keys(content ?? {}).join(', ')}`);
    const schema = media?.schema.$ref;
    if (schema !== undefined && method !== 'HEAD') {
      const validate = bodyCheck(schema);
      for (const part of type === LINES_TYPE ? text.trimEnd().split('\n') : [text])
        if (!validate(JSON.parse(part))) throw new Error(`${where}: ${ajv.errorsText(validate.errors)} in ${part}`);
    }
    covered.add(where);
  };

  return { check, covered };
}

/** Our answers have nothing beyond the description, though it leaves room for more. */
const closed = (_name: string, part: JsonSchema | null): unknown =>
  part?.properties ? { additionalProperties: false, ...part } : part;

function find(document: OpenApiDocument, method: string, target: string) {
  const path = (target.split('?')[0] ?? '').replace(/\/$/, '');
  // Aliases are described once, under their main path.
  for (const candidate of [path, path.replace(/^\/(full|reduced)\/api/, '/api')]) {
    const template = document.paths[candidate] ? candidate : templateOf(document, candidate);
    const operation = document.paths[template ?? '']?.[method === 'HEAD' ? 'get' : method.toLowerCase()];
    if (template !== undefined && operation) return { template, operation };
  }
  return undefined;
}

/** The path whose parameters this one has values for. */
function templateOf({ paths }: OpenApiDocument, path: string): string | undefined {
  const parts = path.split('/');
  return Object.keys(paths).find((template) => {
    const wanted = template.split('/');
    return wanted.length === parts.length && wanted.every((part, at) => part.startsWith('{') || part === parts[at]);
  });
}

function headerOf({ components }: OpenApiDocument, reference: string): Header {
  const header = components.headers[reference.split('/').at(-1) ?? ''];
  if (!header) throw new Error(`${reference} is not described`);
  return header;
}

function responseOf(document: OpenApiDocument, operation: Operation, status: number): Response | undefined {
  const response = operation.responses[String(status)];
  if (!response || !('$ref' in response)) return response;
  return document.components.responses[response.$ref.split('/').at(-1) ?? ''];
}
