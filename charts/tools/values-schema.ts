import { isMap, isScalar, isSeq, parse, parseDocument, type Node, type Pair } from 'yaml';

/** A JSON Schema, or a part of one. */
export type Schema = Record<string, unknown>;

/** One value of `values.yaml`, from its comments. */
export interface Documented {
  /** The keys, joined with dots. */
  path: string;
  description: string;
  /** The default; undefined for a group of values. */
  default: unknown;
}

export interface Values {
  schema: Schema;
  documented: Documented[];
}

const QUANTITY = { type: 'string', pattern: '^[0-9]+(\\.[0-9]+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$' };
const AMOUNTS = { type: 'object', additionalProperties: { anyOf: [{ $ref: '#/$defs/quantity' }, { type: 'number' }] } };
const TEXT = { type: 'string' };
/** The names of labels and annotations in Kubernetes, the values of labels, names of objects, and keys of their data. */
const NAME = { pattern: '^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$' };
const LABEL = { type: 'string', pattern: '^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$' };

const OBJECT = { pattern: '^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$', maxLength: 253 };
const KEY = { pattern: '^[-._a-zA-Z0-9]+$' };

/** The format of a string by the name of its key, at any level. */
const TEXTS: [name: RegExp, schema: Schema][] = [
  [/^(existing(Secret|ConfigMap|Claim)|(storageC|priorityC|c)lassName|tlsSecret)$/, OBJECT],
  [/^(key|.*Key)$/, KEY],
];

/** An object with only these keys, whose values are Kubernetes objects. */
const objectOf = (...keys: string[]): Schema => ({
  type: 'object',
  additionalProperties: false,
  properties: Object.fromEntries(keys.map((key) => [key, { type: 'object' }])),
});

/** Definitions to which the annotations may refer. */
const DEFS = {
  quantity: QUANTITY,
  resources: {
    type: 'object',
    additionalProperties: false,
    required: ['limits'],
    properties: {
      requests: AMOUNTS,
      limits: { ...AMOUNTS, required: ['memory'] },
    },
  },
  labels: { type: 'object', propertyNames: NAME, additionalProperties: LABEL },
  annotations: { type: 'object', propertyNames: NAME, additionalProperties: { type: 'string' } },
  object: { ...TEXT, ...OBJECT, minLength: 1 },
  host: { type: 'string', pattern: '^(\\*\\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$' },
  variable: {
    type: 'object',
    additionalProperties: false,
    required: ['name'],
    properties: {
      name: { type: 'string', pattern: '^[-._a-zA-Z][-._a-zA-Z0-9]*$' },
      value: { type: 'string' },
      valueFrom: { type: 'object' },
    },
  },
  toleration: {
    type: 'object',
    additionalProperties: false,
    properties: {
      key: { type: 'string' },
      operator: { enum: ['Exists', 'Equal', 'Lt', 'Gt'] },
      value: { type: 'string' },
      effect: { enum: ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] },
      tolerationSeconds: { type: 'integer' },
    },
  },
  volume: {
    type: 'object',
    required: ['name'],
    properties: { name: { type: 'string', pattern: '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$' } },
  },
  mount: {
    type: 'object',
    required: ['name', 'mountPath'],
    properties: { name: TEXT, mountPath: { type: 'string', pattern: '^/[^:]*$' } },
  },
  affinity: objectOf('nodeAffinity', 'podAffinity', 'podAntiAffinity'),
  peer: { ...objectOf('podSelector', 'namespaceSelector', 'ipBlock'), minProperties: 1 },
  parentRef: {
    type: 'object',
    additionalProperties: false,
    required: ['name'],
    properties: {
      ...Object.fromEntries(['name', 'namespace', 'group', 'kind', 'sectionName'].map((name) => [name, TEXT])),
      port: { type: 'integer', minimum: 1, maximum: 65_535 },
    },
  },
  destination: {
    type: 'object',
    additionalProperties: false,
    properties: {
      to: { type: 'array', items: { $ref: '#/$defs/peer' } },
      ports: { type: 'array', items: { type: 'integer', minimum: 1, maximum: 65_535 } },
    },
  },
  remoteRef: {
    type: 'object',
    additionalProperties: false,
    required: ['key'],
    properties: { key: { type: 'string' }, property: { type: 'string' }, version: { type: 'string' } },
  },
};

/**
 * Reads the schema and the descriptions of a chart's values. Types follow the defaults, `# -- …` describes the value below it,
 * and `# @schema {…}` adds what a default cannot express. The schema rejects unknown values, and `null`, with which Helm removes a
 * default.
 */
export function readValues(text: string): Values {
  const { contents, commentBefore } = parseDocument(text);
  if (!isMap(contents)) throw new Error('values.yaml is not a map');
  const documented: Documented[] = [];
  const properties = propertiesOf(contents.items, '', documented, commentBefore ?? '');
  const global = { type: 'object', description: 'Values of a chart above this one' };
  return {
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      additionalProperties: false,
      required: Object.keys(properties),
      properties: { global, ...properties },
      $defs: { ...DEFS, ...(properties.pod && { pod: partOf(properties.pod) }) },
    },
    documented,
  };
}

function propertiesOf(items: Pair[], parent: string, documented: Documented[], before = ''): Record<string, Schema> {
  const properties: Record<string, Schema> = {};
  for (const [index, { key, value }] of items.entries()) {
    if (!isScalar(key)) throw new Error(`A key of ${parent} is no text`);
    const name = String(key.value);
    const path = parent === '' ? name : `${parent}.${name}`;
    properties[name] = schemaOf(
      value as Node,
      path,
      readComment(index === 0 ? `${before}\n${key.commentBefore ?? ''}` : key.commentBefore),
      documented,
    );
  }
  return properties;
}

interface Comment {
  description: string;
  annotation: Schema;
}

function readComment(text: string | null | undefined): Comment {
  const lines = (text ?? '').split('\n').map((line) => line.trim());
  const begin = lines.findLastIndex((line) => line.startsWith('-- '));
  const comment = begin < 0 ? [] : lines.slice(begin).filter((line) => !line.startsWith('@schema'));
  const annotation = lines.filter((line) => line.startsWith('@schema ')).map((line) => line.slice('@schema '.length));
  return {
    description: comment.join(' ').replace(/^-- /, '').trim(),
    annotation: Object.assign({}, ...annotation.map((each) => parse(each) as Schema)) as Schema,
  };
}

function schemaOf(value: Node, path: string, { description, annotation }: Comment, documented: Documented[]): Schema {
  const common = { ...(description && { description }) };
  if (isMap(value) && !annotation.$ref && !annotation.additionalProperties) {
    if (description) documented.push({ path, description, default: undefined });
    const properties = propertiesOf(value.items as Pair[], path, documented, value.commentBefore ?? '');
    const required = Object.keys(properties);
    return { ...common, type: 'object', additionalProperties: false, required, properties, ...annotation };
  }
  documented.push({ path, description, default: value.toJSON() });
  if (annotation.$ref) return { ...common, ...annotation };
  if (isSeq(value) && !annotation.items) throw new Error(`${path} does not describe its items`);
  return { ...common, ...typeOf(value, path), ...annotation };
}

/** The schema for objects that set only some of the keys, to override another's. */
const partOf = ({ required: _all, description: _whole, ...schema }: Schema): Schema => schema;

function typeOf(value: Node, path: string): Schema {
  if (isMap(value)) return { type: 'object' };
  if (isSeq(value)) return { type: 'array' };
  const plain = isScalar(value) ? value.value : undefined;
  if (typeof plain === 'boolean') return { type: 'boolean' };
  if (typeof plain === 'number') return { type: Number.isInteger(plain) ? 'integer' : 'number' };
  const name = path.slice(path.lastIndexOf('.') + 1);
  if (typeof plain === 'string') return { type: 'string', ...TEXTS.find(([pattern]) => pattern.test(name))?.[1] };
  throw new Error(`${path} has a default of no known type`);
}
