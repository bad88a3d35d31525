export { HTTP_STATUS, isErrorCode, type ErrorCode } from './codes.ts';
export * from './app-error.ts';
export { toAppError } from './to-app-error.ts';
export { toGraphQLError } from './graphql.ts';
