import type { QueryPlan } from '@apollo/query-planner';
import type { DocumentNode, GraphQLSchema } from 'graphql';

/** A composed graph, as far as executing on it needs it. */
export interface FederatedGraph {
  /** What clients see. */
  schema: GraphQLSchema;
  /** With what they do not see. */
  supergraphSchema: GraphQLSchema;
  /** Fields that services require with arguments (`fieldsRequiredWithArguments`). */
  requiredWithArguments: ReadonlySet<string>;
  /** Plans the one operation of a document. */
  plan: (document: DocumentNode) => QueryPlan;
}
