import { composeServices } from '@apollo/composition';
import { buildSubgraphSchema } from '@apollo/subgraph';
import {
  buildSchema,
  execute,
  getArgumentValues,
  getNamedType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
  isAbstractType,
  parse,
  printSchema,
  validate,
  type DocumentNode,
  type ExecutionResult,
  type FieldNode,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
} from 'graphql';
import { createFederatedExecutor, readSupergraph, type AskSubgraph, type PlannedGraph } from '../src/index.ts';

/** The schemas of services, by their names. */
export type Subgraphs = Readonly<Record<string, string>>;

export interface Call {
  service: string;
  text: string;
  variables: Record<string, unknown>;
}

export type World = ReturnType<typeof createWorld>;

export type Source = { __typename?: string; id?: string } & Record<string, unknown>;

/** Fixes a field's value instead of leaving it to chance. */
export type Fixed = (typeName: string, field: string, source: Source, args: Record<string, unknown>) => unknown;

const ENTITY_IDS = ['1', '2', '3'];

export interface WorldOptions {
  seed: number;
  /** One in this many nullable fields is null, and one in this many fails; 0 disables both. */
  failing?: number;
  fixed?: Fixed;
  /** The concrete type of an object that a service knows only by an interface. */
  typeOf?: (representation: Source) => string;
}

export const parseSubgraph = (sdl: string) => parse(FEDERATION + sdl);

export function compose(subgraphs: Subgraphs): string {
  const composed = composeServices(
    Object.entries(subgraphs).map(([name, sdl]) => ({ name, url: `http://${name}`, typeDefs: parseSubgraph(sdl) })),
  );
  if (composed.errors) throw new Error(composed.errors.map(({ message }) => message).join('\n'));
  return composed.supergraphSdl;
}

const FEDERATION = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.7", import: [
  "@key", "@shareable", "@external", "@requires", "@provides", "@interfaceObject", "@inaccessible", "@override"])\n`;

export const graphOf = (subgraphs: Subgraphs): PlannedGraph => readSupergraph(compose(subgraphs));

/** The result of an operation whose services respond like this. */
export const runOn = (graph: PlannedGraph, source: string, ask: AskSubgraph<Call[]>, variables = {}) =>
  createFederatedExecutor(graph, ask).compile(parse(source)).run({ variables, context: [] });

/** Provides values for all fields of a graph. They depend only on object and arguments, so one schema and several services agree. */
export function createWorld(subgraphs: Subgraphs, options: WorldOptions) {
  const documents = new Map(Object.entries(subgraphs).map(([name, sdl]) => [name, parseSubgraph(sdl)]));
  const graph = readSupergraph(compose(subgraphs), { debug: { maxEvaluatedPlans: 100 } });
  /** The mutations that ran in the services, and in the merged schema. */
  const changes = { services: [] as string[], merged: [] as string[] };
  /** The same for root fields of queries. */
  const reads = { services: [] as string[], merged: [] as string[] };
  const all = [...documents.values()];
  const objects = new Map(all.flatMap(interfaceObjectFields));
  const possible = (name: string) => {
    const type = graph.schema.getType(name);
    const types = isAbstractType(type) ? graph.schema.getPossibleTypes(type) : [];
    return types.map((each) => each.name).toSorted();
  };
  const common = { ...options, objects, possible };
  const services = new Map(
    [...documents].map(([name, document]) => {
      const schema = buildSubgraphSchema(document);
      const requires = requirements(document);
      resolveAll(schema, { ...common, requires, changes: changes.services, reads: reads.services });
      return [name, schema];
    }),
  );
  /** All services in one schema. */
  const merged = buildSchema(printSchema(graph.schema));
  const requires = new Map(all.flatMap((document) => [...requirements(document)]));
  resolveAll(merged, { ...common, requires, changes: changes.merged, reads: reads.merged, isMerged: true });
  const ask = callInMemory(services);
  return { graph, services, merged, changes, reads, ask, executor: createFederatedExecutor(graph, ask) };
}

/** From `Type.field` to the field that it requires, with its arguments. */
function requirements(document: DocumentNode): Map<string, FieldNode> {
  const found = new Map<string, FieldNode>();
  for (const definition of document.definitions) {
    if (!('fields' in definition) || !('name' in definition)) continue;
    for (const field of definition.fields ?? [])
      for (const { name, arguments: args } of field.directives ?? []) {
        const value = args?.[0]?.value;
        if (name.value !== 'requires' || value?.kind !== 'StringValue') continue;
        const [operation] = parse(`{ ${value.value} }`).definitions;
        const [node] = operation && 'selectionSet' in operation ? operation.selectionSet.selections : [];
        if (node?.kind === 'Field') found.set(`${String(definition.name?.value)}.${field.name.value}`, node);
      }
  }
  return found;
}

/** From fields of interface objects to the interface. */
function interfaceObjectFields(document: DocumentNode): [string, string][] {
  return document.definitions.flatMap((definition) => {
    if (definition.kind !== 'ObjectTypeDefinition') return [];
    if (!definition.directives?.some(({ name }) => name.value === 'interfaceObject')) return [];
    const fields = (definition.fields ?? []).filter(({ name }) => name.value !== 'id');
    return fields.map(({ name }): [string, string] => [name.value, definition.name.value]);
  });
}

interface ResolveOptions extends WorldOptions {
  objects: ReadonlyMap<string, string>;
  /** The possible types of an interface or union, as clients know them. */
  possible: (name: string) => string[];
  requires: ReadonlyMap<string, FieldNode>;
  changes: string[];
  reads: string[];
  isMerged?: boolean;
}

function resolveAll(schema: GraphQLSchema, options: ResolveOptions): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith('__')) continue;
    if (isAbstractType(type)) {
      if (type.name !== '_Entity') type.resolveType = (value: Source) => value.__typename;
      const resolveReference = (given: Source) => ({ ...given, __typename: options.typeOf?.(given) });
      type.extensions = { apollo: { subgraph: { resolveReference } } };
      continue;
    }
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      if (field.name.startsWith('_')) continue;
      field.resolve = (source: Source | undefined, args: Record<string, unknown>, _context, info) => {
        const list = { Mutation: options.changes, Query: options.reads }[type.name];
        list?.push(`${field.name} ${JSON.stringify(args)}`);
        return resolveField(source ?? {}, args, info, options);
      };
    }
  }
}

function resolveField(
  source: Source,
  args: Record<string, unknown>,
  { parentType, fieldName, returnType, schema }: GraphQLResolveInfo,
  options: ResolveOptions,
): unknown {
  if (fieldName === 'id' || fieldName === 'code') return source.id ?? String(source.code);
  // An interface object stands for any of its types.
  const given = options.fixed?.(parentType.name, fieldName, source, args);
  if (given !== undefined) {
    if (given instanceof Error) throw given;
    return given;
  }
  const required = options.requires.get(`${parentType.name}.${fieldName}`);
  const id = source.id ?? (source.code as string | undefined) ?? '';
  const typeName = options.objects.get(fieldName) ?? parentType.name;
  let place = `${typeName}:${id}.${fieldName}(${JSON.stringify(args)})`;
  if (required !== undefined) {
    const field = parentType.getFields()[required.name.value];
    const value =
      options.isMerged && field
        ? quiet(() => {
            const given = JSON.stringify(getArgumentValues(field, required));
            return valueAt(`${parentType.name}:${id}.${field.name}(${given})`, field.type, schema, options);
          })
        : source[required.name.value];
    place += JSON.stringify(value ?? null);
  }
  return valueAt(place, returnType, schema, options);
}

function quiet(read: () => unknown): unknown {
  try {
    return read();
  } catch {
    return null;
  }
}

/** FNV-1a with a finaliser. */
function hash(text: string): number {
  let value = 2_166_136_261;
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 16_777_619);
  value ^= value >>> 15;
  value = Math.imul(value, 0x85ebca6b);
  return (value ^ (value >>> 13)) >>> 0;
}

const STRINGS = ['plain', 'with "quotes"', 'back\\slash', 'line\nbreak', 'ünï', '\u2028', '\ud800', '', 'x'.repeat(50)];

function valueAt(place: string, type: GraphQLOutputType, schema: GraphQLSchema, options: ResolveOptions): unknown {
  const { seed, failing = 0 } = options;
  const die = hash(`${String(seed)} ${place}`);
  const fate = failing > 0 ? die % failing : -1;
  if (fate === 0) return null;
  if (fate === 1) throw new Error(`failed at ${place}`);
  const bare = isNonNullType(type) ? type.ofType : type;
  if (isListType(bare)) {
    return Array.from({ length: (die >>> 8) % 4 }, (_, index) =>
      itemAt(`${place}[${String(index)}]`, bare.ofType, schema, options),
    );
  }
  const named = getNamedType(bare);
  const more = die >>> 4;
  if (isEnumType(named)) return named.getValues()[more % named.getValues().length]?.name;
  if (isObjectType(named) || isAbstractType(named)) {
    // An interface object is one of the interface's types, unknown to its service.
    const types = options.possible(named.name);
    const concrete = types.length > 0 ? types[more % types.length] : named.name;
    const isEntity = isAbstractType(named) || 'id' in named.getFields() || 'code' in named.getFields();
    const number = String(ENTITY_IDS[(more >>> 4) % ENTITY_IDS.length]);
    return { __typename: concrete, id: isEntity ? `${String(concrete)}${number}` : place };
  }
  switch (named.name) {
    case 'Int':
      return (more % 1_000) - 500;
    case 'Float':
      return (more % 1_000) / 8;
    case 'Boolean':
      return more % 2 === 0;
    case 'JSON':
      return [{ b: 1, a: [null, { x: place }] }, [1, [2]], 'text', 3][more % 4];
    case 'ID':
      return String(more % 100);
    default:
      return `${String(STRINGS[more % STRINGS.length])} ${place}`;
  }
}

function itemAt(place: string, type: GraphQLOutputType, schema: GraphQLSchema, options: ResolveOptions): unknown {
  try {
    return valueAt(place, type, schema, options);
  } catch (error) {
    return error;
  }
}

/** Services as if over a network: they receive operation texts and return JSON. */
function callInMemory(services: ReadonlyMap<string, GraphQLSchema>): AskSubgraph<Call[]> {
  const documents = new Map<string, DocumentNode>();
  return async ({ operation, variables }, calls) => {
    const schema = services.get(operation.service);
    if (!schema) throw new Error('There is no such service.');
    let document = documents.get(operation.text);
    if (!document) documents.set(operation.text, (document = validDocument(schema, operation.text)));
    const variableValues = JSON.parse(JSON.stringify(variables)) as Record<string, unknown>;
    calls.push({ service: operation.service, text: operation.text, variables: variableValues });
    const result = await execute({ schema, document, variableValues });
    return JSON.parse(JSON.stringify(result)) as Awaited<ReturnType<AskSubgraph<Call[]>>>;
  };
}

/** @throws Error for an operation that a service would reject */
function validDocument(schema: GraphQLSchema, text: string): DocumentNode {
  const document = parse(text, { noLocation: true });
  const [invalid] = validate(schema, document);
  if (invalid) throw new Error(`A service is asked what it refuses: ${invalid.message} in ${text}`);
  return document;
}

/** The data with its keys in order, and the nulls that errors explain. */
export function readable({ data, errors = [] }: Pick<ExecutionResult, 'data' | 'errors'>) {
  const nulls = errors.flatMap(({ path = [] }) => nullOn(data, path)?.join('.') ?? []);
  return { data: JSON.stringify(data ?? null), nulls: [...new Set(nulls)].toSorted() };
}

/** The path to the null that an error caused; undefined when there is none. */
function nullOn(data: unknown, [key, ...rest]: readonly (string | number)[]): (string | number)[] | undefined {
  if (data === null || data === undefined) return [];
  if (key === undefined) return undefined;
  const inner = new Map<unknown, unknown>(Object.entries(data)).get(String(key));
  const below = nullOn(inner, rest);
  return below && [key, ...below];
}
