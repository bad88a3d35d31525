import { operationFromDocument, ROUTER_SUPPORTED_SUPERGRAPH_FEATURES, Supergraph } from '@apollo/federation-internals';
import { QueryPlanner, type QueryPlannerConfig } from '@apollo/query-planner';
import { Kind, parse, visit, type DocumentNode } from 'graphql';
import type { FederatedGraph } from './federated-graph.ts';

/** Reads a composed supergraph; @apollo/query-planner plans on it. @throws when it is none */
export function readSupergraph(sdl: string, config?: QueryPlannerConfig): FederatedGraph {
  const supergraph = Supergraph.build(sdl, { supportedFeatures: ROUTER_SUPPORTED_SUPERGRAPH_FEATURES });
  const planner = new QueryPlanner(supergraph, config);
  const apiSchema = supergraph.apiSchema();
  return {
    schema: apiSchema.toGraphQLJSSchema(),
    supergraphSchema: supergraph.schema.toGraphQLJSSchema(),
    requiredWithArguments: fieldsRequiredWithArguments(parse(sdl, { noLocation: true })),
    plan: (document) => planner.buildQueryPlan(operationFromDocument(apiSchema, document)),
  };
}

/** Fields with arguments whose names stand in some `@requires` or `@fromContext`: the planner selects them by itself. */
export function fieldsRequiredWithArguments(supergraph: DocumentNode): ReadonlySet<string> {
  const withArguments = new Set<string>();
  const required = new Set<string>();
  visit(supergraph, {
    FieldDefinition(field) {
      if (field.arguments?.length) withArguments.add(field.name.value);
      for (const { name, arguments: args = [] } of field.directives ?? []) {
        if (name.value !== 'join__field') continue;
        for (const argument of args) {
          if (argument.name.value !== 'requires' && argument.name.value !== 'contextArguments') continue;
          visit(argument.value, {
            [Kind.STRING]: ({ value }) => {
              for (const [word] of value.matchAll(/\w+/g)) required.add(word);
            },
          });
        }
      }
    },
  });
  return new Set([...required].filter((name) => withArguments.has(name)));
}
