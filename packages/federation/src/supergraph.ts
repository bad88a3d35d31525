import {
  operationFromDocument,
  ROUTER_SUPPORTED_SUPERGRAPH_FEATURES,
  type Schema,
  Supergraph,
} from '@apollo/federation-internals';
import { QueryPlanner, type QueryPlan, type QueryPlannerConfig } from '@apollo/query-planner';
import { Kind, parse, visit, type ConstDirectiveNode, type DocumentNode, type GraphQLSchema } from 'graphql';
import { separateRequiredVariants } from './required-arguments.ts';

export interface FederatedGraph {
  /** The API schema, which clients see. */
  schema: GraphQLSchema;
  /** The full schema, including elements hidden from clients. */
  supergraphSchema: GraphQLSchema;
  /** Fields that services require with arguments (`fieldsRequiredWithArguments`). */
  requiredWithArguments: ReadonlySet<string>;
  /** Plans a document's only operation. */
  plan: (document: DocumentNode) => QueryPlan;
}

/** A graph with its planner, for callers that plan by themselves. */
export interface PlannedGraph extends FederatedGraph {
  /** `schema` in the planner's own representation. */
  apiSchema: Schema;
  planner: QueryPlanner;
}

/** Reads a composed supergraph. Plans with @apollo/query-planner. @throws when the supergraph is not valid */
export function readSupergraph(
  sdl: string,
  config?: QueryPlannerConfig,
  { validate = true }: { validate?: boolean } = {},
): PlannedGraph {
  const document = withResolvableKeys(parse(sdl, { noLocation: true }));
  const supergraph = Supergraph.build(document, {
    supportedFeatures: ROUTER_SUPPORTED_SUPERGRAPH_FEATURES,
    validateSupergraph: validate,
  });
  const apiSchema = supergraph.apiSchema();
  const planner = new QueryPlanner(supergraph, config);
  return {
    schema: apiSchema.toGraphQLJSSchema(),
    supergraphSchema: supergraph.schema.toGraphQLJSSchema(),
    requiredWithArguments: fieldsRequiredWithArguments(document),
    plan: createPlan(document, planner, config),
    apiSchema,
    planner,
  };
}

/** Plans with `planner`, or with a planner for a modified copy of `supergraph` if the plans would otherwise be wrong. */
function createPlan(
  supergraph: DocumentNode,
  planner: QueryPlanner,
  config?: QueryPlannerConfig,
): FederatedGraph['plan'] {
  const variants = separateRequiredVariants(supergraph);
  const own =
    variants.document === supergraph
      ? planner
      : new QueryPlanner(
          Supergraph.build(variants.document, { supportedFeatures: ROUTER_SUPPORTED_SUPERGRAPH_FEATURES }),
          config,
        );
  const apiSchema = own.supergraph.apiSchema();
  return (document) => variants.restore(own.buildQueryPlan(operationFromDocument(apiSchema, document)));
}

/**
 * Removes a service's unresolvable keys from types for which it also has resolvable keys. The planner might use them to
 * return to the service (for fields with `@requires`), and would get no data.
 */
function withResolvableKeys(supergraph: DocumentNode): DocumentNode {
  const visitType = <Type extends { readonly directives?: readonly ConstDirectiveNode[] }>(type: Type) => {
    const directives = type.directives ?? [];
    const resolving = new Set(directives.filter((each) => isJoin(each) && !isUnresolvable(each)).map(graphOf));
    return {
      ...type,
      directives: directives.filter((each) => !(isUnresolvable(each) && resolving.has(graphOf(each)))),
    };
  };
  return visit(supergraph, { ObjectTypeDefinition: visitType, InterfaceTypeDefinition: visitType });
}

const isJoin = ({ name }: ConstDirectiveNode) => name.value === 'join__type';

const argumentOf = (directive: ConstDirectiveNode, name: string) =>
  directive.arguments?.find((argument) => argument.name.value === name)?.value;

function isUnresolvable(directive: ConstDirectiveNode): boolean {
  const resolvable = argumentOf(directive, 'resolvable');
  return isJoin(directive) && resolvable?.kind === Kind.BOOLEAN && !resolvable.value;
}

function graphOf(directive: ConstDirectiveNode): string | undefined {
  const graph = argumentOf(directive, 'graph');
  return graph?.kind === Kind.ENUM ? graph.value : undefined;
}

/** Fields with arguments that occur in a `@requires` or `@fromContext`. The planner selects them by itself. */
function fieldsRequiredWithArguments(supergraph: DocumentNode): ReadonlySet<string> {
  const withArguments = new Set<string>();
  const required = new Set<string>();
  visit(supergraph, {
    FieldDefinition(field) {
      if (field.arguments?.length) withArguments.add(field.name.value);
      for (const { name, arguments: args = [] } of field.directives ?? []) {
        if (name.value !== 'join__field') continue;
        for (const argument of args) {
          if (argument.name.value === 'overrideLabel')
            throw new Error('This executor does not support @override with a label.');
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
