export { asGraphQLError, asGraphQLErrors, compiledGateway, type CompiledGatewayOptions } from './compiled-gateway.ts';
export * from './documents/documents.ts';
export { InvalidOperation } from './documents/invalid-operation.ts';
export * from './documents/operation-size.ts';
export * from './documents/parts.ts';
export {
  coerceVariables,
  withExactLiterals,
  type RefuseVariables,
  type VariableIssue,
  type VariablesOperation,
} from './documents/variables.ts';
export type {
  AnswerError,
  AskSubgraph,
  ServiceError,
  SubgraphAnswer,
  SubgraphOperation,
  SubgraphRequest,
} from './execution/run.ts';
export { isExactInteger, parseExactJson, type ExactInteger } from './exact-json.ts';
export {
  createFederatedExecutor,
  type FederatedExecutor,
  type FederatedOperation,
  type Resized,
} from './federated-executor.ts';
export type { Incompleteness } from './projection/build-value.ts';
export type { Failures, OperationRequest, OperationResult, Schedule } from './run-operation.ts';
export * from './events/compile-events.ts';
export * from './subscriptions.ts';
export { readSupergraph, type FederatedGraph, type PlannedGraph } from './supergraph.ts';
