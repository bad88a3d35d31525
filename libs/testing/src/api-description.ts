import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

/** The parts of a JSON Schema (2020-12), as used by OpenAPI 3.1, that tests read. */
export interface JsonSchema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
}

interface Reference {
  $ref: string;
}

interface DescribedResponse {
  headers?: Record<string, { required?: boolean } | Reference>;
  content?: Record<string, { schema: JsonSchema; example?: unknown }>;
}

export interface DescribedOperation {
  operationId: string;
  tags: string[];
  security: Record<string, string[]>[];
  parameters?: { name: string; in: string; schema: JsonSchema }[];
  requestBody?: { content: Record<string, { schema: JsonSchema; example?: unknown }> };
  responses: Record<string, DescribedResponse | Reference>;
}

/** The parts of `/api/openapi.json` that tests compare with real responses. */
export interface ApiDescription {
  paths: Record<string, Record<string, DescribedOperation>>;
  components: {
    schemas: Record<string, JsonSchema>;
    responses: Record<string, DescribedResponse>;
    headers: Record<string, { required?: boolean }>;
  };
}

export interface SeenResponse {
  method: string;
  /** With or without a query. */
  path: string;
  status: number;
  headers: Headers;
  text: string;
}

export type DescriptionCheck = ReturnType<typeof createDescriptionCheck>;

const LINES_TYPE = 'application/x-ndjson';

/** Compares real responses with the API description. */
export function createDescriptionCheck(description: ApiDescription) {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  // The package's types do not match what an ES module gets from its CommonJS default.
  (formats as unknown as (ajv: Ajv2020) => void)(ajv);
  ajv.addSchema({ $id: 'api', components: JSON.parse(JSON.stringify(description.components), closed) });
  const compiled = new Map<string, ValidateFunction>();
  /** The checked responses, as `METHOD /path status`. */
  const covered = new Set<string>();

  const bodyCheck = (reference: string) => {
    const known = compiled.get(reference) ?? ajv.compile({ $ref: `api${reference}` });
    compiled.set(reference, known);
    return known;
  };

  /** @throws Error that says what differs */
  const check = ({ method, path, status, headers, text }: SeenResponse) => {
    const found = find(description, method, path);
    // Headers that are too long are refused before routing.
    if (!found || status === 431) return;
    const { template, operation } = found;
    const where = `${method} ${template} ${status}`;
    const response = responseOf(description, operation, status);
    if (!response) throw new Error(`${where} is not described`);
    for (const [name, header] of Object.entries(response.headers ?? {})) {
      const { required = true } = '$ref' in header ? headerOf(description, header.$ref) : header;
      if (required && !headers.has(name)) throw new Error(`${where} lacks the header ${name}`);
    }
    const type = (headers.get('content-type') ?? '').replace(/^application\/json; charset=utf-8$/, 'application/json');
    const { content } = response;
    const media = content?.[type];
    if (content ? !media : type !== '') throw new Error(`${where} is no ${Object.keys(content ?? {}).join(', ')}`);
    const schema = media?.schema.$ref;
    covered.add(where);
    if (schema === undefined || method === 'HEAD') return;
    const validate = bodyCheck(schema);
    for (const part of type === LINES_TYPE ? text.trimEnd().split('\n') : [text]) {
      if (!validate(JSON.parse(part))) throw new Error(`${where}: ${ajv.errorsText(validate.errors)} in ${part}`);
    }
  };

  return { check, covered };
}

/** Our responses must contain nothing beyond the description, although the description itself allows more. */
const closed = (_name: string, part: JsonSchema | null): unknown =>
  part?.properties ? { additionalProperties: false, ...part } : part;

function find(description: ApiDescription, method: string, target: string) {
  const path = (target.split('?')[0] ?? '').replace(/\/$/, '');
  // Aliases are described once, under their main path.
  for (const candidate of [path, path.replace(/^\/(full|reduced)\/api/, '/api')]) {
    const template = description.paths[candidate] ? candidate : templateOf(description, candidate);
    const operation = description.paths[template ?? '']?.[method === 'HEAD' ? 'get' : method.toLowerCase()];
    if (template !== undefined && operation) return { template, operation };
  }
  return undefined;
}

/** Finds the described path that this path is an instance of. */
function templateOf({ paths }: ApiDescription, path: string): string | undefined {
  if (!isDecodable(path)) return undefined; // it names no operation
  const parts = path.split('/');
  return Object.keys(paths).find((template) => {
    const wanted = template.split('/');
    return wanted.length === parts.length && wanted.every((part, at) => part.startsWith('{') || part === parts[at]);
  });
}

function isDecodable(path: string): boolean {
  try {
    return decodeURIComponent(path) !== '';
  } catch {
    return false;
  }
}

function headerOf({ components }: ApiDescription, reference: string) {
  const header = components.headers[reference.split('/').at(-1) ?? ''];
  if (!header) throw new Error(`${reference} is not described`);
  return header;
}

export function responseOf({ components }: ApiDescription, operation: DescribedOperation, status: number) {
  const response = operation.responses[String(status)];
  if (!response || !('$ref' in response)) return response;
  return components.responses[response.$ref.split('/').at(-1) ?? ''];
}
