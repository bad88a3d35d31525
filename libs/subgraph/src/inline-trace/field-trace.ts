import type { ITrace, Trace } from '@apollo/usage-reporting-protobuf';
import type { GraphQLFormattedError, GraphQLResolveInfo } from 'graphql';

type Path = GraphQLResolveInfo['path'];
interface Node extends Trace.INode {
  child: Node[];
  error: Trace.IError[];
}

/** When the fields of one operation began and ended, as a tree of the result's form. */
export interface FieldTrace {
  /** Returns what is to be called at the field's end. */
  begin(info: GraphQLResolveInfo): () => void;
  /** Ends the trace, with the errors of the answer. Returns it as federated tracing wants it in `extensions.ftv1`. */
  end(errors?: readonly GraphQLFormattedError[]): Promise<string>;
}

export function startFieldTrace(): FieldTrace {
  const begunMs = performance.now();
  const startTime = timestamp();
  const nanoseconds = () => Math.round((performance.now() - begunMs) * 1e6);
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
    begin({ path, fieldName, parentType, returnType }) {
      const node = nodeOf(path);
      if (path.key !== fieldName) node.originalFieldName = fieldName;
      node.type = String(returnType);
      node.parentType = parentType.name;
      node.startTime = nanoseconds();
      return () => (node.endTime = nanoseconds());
    },
    async end(errors = []) {
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

/** Few processes ever need the encoder, so none loads it before. */
async function encode(trace: ITrace): Promise<string> {
  const { Trace } = await import('@apollo/usage-reporting-protobuf');
  return Buffer.from(Trace.encode(trace).finish()).toString('base64');
}
