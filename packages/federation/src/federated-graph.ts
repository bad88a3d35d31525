import type { QueryPlan } from '@apollo/query-planner';
import type { DocumentNode, GraphQLSchema } from 'graphql';

export interface FederatedGraph {
  /** The API schema, as clients see it. */
  schema: GraphQLSchema;
  /** The full schema, including what clients do not see. */
  supergraphSchema: GraphQLSchema;
  /** Fields that services require with arguments (`fieldsRequiredWithArguments`). */
  requiredWithArguments: ReadonlySet<string>;
  /** Plans a document's only operation. */
  plan: (document: DocumentNode) => QueryPlan;
}
