export { HTTP_STATUS, isErrorCode, type ErrorCode } from './codes.ts';
export {
  AppError,
  badUserInput,
  conflict,
  forbidden,
  notFound,
  rateLimited,
  unauthenticated,
  unavailable,
  type AppErrorOptions,
  type Issue,
} from './app-error.ts';
export { toAppError } from './to-app-error.ts';
export { toGraphQLError } from './graphql.ts';
