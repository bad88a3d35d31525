import { Kind, parse, visit, type ASTNode, type NameNode, type StringValueNode } from 'graphql';
import { readFileSync } from 'node:fs';

const SUPERGRAPH = readFileSync(new URL('../supergraph.graphql', import.meta.url), 'utf8');
const ROOTS = ['Query', 'Mutation', 'Subscription'];

it('describes every type, field, argument and value of the public graph', () => {
  let described = 0;
  const missing: string[] = [];
  const path: string[] = [];
  type Definition = ASTNode & { name: NameNode; description?: StringValueNode };
  const enter = (node: Definition) => {
    path.push(node.name.value);
    // Additions of composition, and the root types, whose names say everything.
    if (path[0]?.includes('__') || (path.length === 1 && ROOTS.includes(node.name.value))) return;
    if (node.description?.value) described += 1;
    else missing.push(path.join('.'));
  };
  const part = { enter, leave: () => void path.pop() };
  visit(parse(SUPERGRAPH), {
    [Kind.DIRECTIVE_DEFINITION]: () => false,
    [Kind.SCALAR_TYPE_DEFINITION]: part,
    [Kind.OBJECT_TYPE_DEFINITION]: part,
    [Kind.FIELD_DEFINITION]: part,
    [Kind.INPUT_OBJECT_TYPE_DEFINITION]: part,
    [Kind.INPUT_VALUE_DEFINITION]: part,
    [Kind.ENUM_TYPE_DEFINITION]: part,
    [Kind.ENUM_VALUE_DEFINITION]: part,
  });
  expect(missing).toEqual([]);
  expect(described).toBeGreaterThan(300);
});
