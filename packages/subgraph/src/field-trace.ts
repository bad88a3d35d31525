import type { ITrace, Trace } from '@apollo/usage-reporting-protobuf';
import {
  defaultFieldResolver,
  isIntrospectionType,
  isObjectType,
  type GraphQLFieldResolver,
  type GraphQLFormattedError,
  type GraphQLResolveInfo,
  type GraphQLSchema,
} from 'graphql';
import { isPromise } from './run.ts';

type Path = GraphQLResolveInfo['path'];
interface Node extends Trace.INode {
  child: Node[];
  error: Trace.IError[];
}

/** Records when the fields of one operation began and ended, in a tree with the shape of the result. */
export type FieldTrace = ReturnType<typeof startFieldTrace>;

export function startFieldTrace() {
  const startMs = performance.now();
  const startTime = timestamp();
  const nanoseconds = () => Math.round((performance.now() - startMs) * 1e6);
  const root = createNode({});
  const nodes = new Map<Path, Node>();

  const nodeOf = (path: Path | undefined): Node => {
    if (!path) return root;
    const known = nodes.get(path);
    if (known) return known;
    const node = addTo(nodeOf(path.prev), path.key);
    nodes.set(path, node);
    return node;
  };

  return {
    /** Records the start of a field. Returns a function to call at its end. */
    begin({ path, fieldName, parentType, returnType }: GraphQLResolveInfo) {
      const node = nodeOf(path);
      if (path.key !== fieldName) node.originalFieldName = fieldName;
      node.type = String(returnType);
      node.parentType = parentType.name;
      node.startTime = nanoseconds();
      return () => (node.endTime = nanoseconds());
    },
    /** Ends the trace and adds the response's errors. Returns the trace in the format of `extensions.ftv1` (federated tracing). */
    async end(errors: readonly GraphQLFormattedError[] = []) {
      const durationNs = nanoseconds();
      for (const error of errors) {
        const { message, locations = [], path = [] } = error;
        const node = path.reduce<Node>((parent, key) => childOf(parent, key) ?? addTo(parent, key), root);
        node.error.push({ message, location: [...locations], json: JSON.stringify(error) });
      }
      return encode({ startTime, endTime: timestamp(), durationNs, fieldExecutionWeight: 1, root });
    },
  };
}

function createNode(id: Pick<Trace.INode, 'responseName' | 'index'>): Node {
  return { ...id, child: [], error: [] };
}

function addTo(parent: Node, key: string | number): Node {
  const node = createNode(typeof key === 'number' ? { index: key } : { responseName: key });
  parent.child.push(node);
  return node;
}

function childOf({ child }: Node, key: string | number): Node | undefined {
  return child.find(({ responseName, index }) => (responseName ?? index) === key);
}

function timestamp(): ITrace['startTime'] {
  const ms = Date.now();
  return { seconds: Math.floor(ms / 1_000), nanos: (ms % 1_000) * 1_000_000 };
}

/** Loads the encoder on first use, because few processes ever need it. */
async function encode(trace: ITrace): Promise<string> {
  const { Trace } = await import('@apollo/usage-reporting-protobuf');
  return Buffer.from(Trace.encode(trace).finish()).toString('base64');
}

type Resolve = GraphQLFieldResolver<unknown, unknown>;
type TraceOf = (context: unknown) => FieldTrace | undefined;

/** Changes the schema so that each field reports its start and end to the trace of its context. */
export function traceFields(schema: GraphQLSchema, traceOf: TraceOf): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || isIntrospectionType(type)) continue;
    for (const field of Object.values(type.getFields()))
      field.resolve = traced(field.resolve ?? defaultFieldResolver, traceOf);
  }
  return schema;
}

function traced(resolve: Resolve, traceOf: TraceOf): Resolve {
  return (source, args, context, info) => {
    const end = traceOf(context)?.begin(info);
    let value: unknown;
    try {
      value = resolve(source, args, context, info);
      return value;
    } finally {
      const awaited = awaitedIn(value);
      if (awaited.length > 0) void Promise.allSettled(awaited).then(end);
      else end?.();
    }
  };
}

/** The promises to wait for. The resolver of `_entities` returns a list of promises. */
function awaitedIn(value: unknown): PromiseLike<unknown>[] {
  return (Array.isArray(value) ? value : [value]).filter(isPromise);
}
