import { Kind, parse, visit, type ASTNode } from 'graphql';
import { readFileSync } from 'node:fs';

const SUPERGRAPH = readFileSync(new URL('../supergraph.graphql', import.meta.url), 'utf8');
const ROOTS = ['Query', 'Mutation', 'Subscription'];

it('describes every type, field, argument and value of the public graph', () => {
  let described = 0;
  const missing: string[] = [];
  const path: string[] = [];
  const isPart = (node: ASTNode) => 'description' in node && 'name' in node;
  visit(parse(SUPERGRAPH), {
    enter(node) {
      if (node.kind === Kind.DIRECTIVE_DEFINITION) return false;
      if (!('description' in node && 'name' in node)) return undefined;
      const { name, description } = node;
      path.push(name?.value ?? '');
      // Additions of composition, and the root types, whose names say everything.
      if (path[0]?.includes('__') || (path.length === 1 && ROOTS.includes(path[0] ?? ''))) return undefined;
      if (description?.value) described += 1;
      else missing.push(path.join('.'));
      return undefined;
    },
    leave: (node) => void (isPart(node) && path.pop()),
  });
  expect(missing).toEqual([]);
  expect(described).toBeGreaterThan(300);
});
