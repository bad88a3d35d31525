export type { Adoption } from './adoption.ts';
export { createInternalClient, serveInternalApi, type InternalApi, type InternalClientOptions } from './define.ts';
export { authInternal, authRestore, type AuthInternal, type AuthRestore, type EndedSession } from './auth.ts';
export {
  tasksInternal,
  tasksRestore,
  type FeedPosition,
  type TasksInternal,
  type TasksRestore,
  type UnreadableRecord,
} from './tasks.ts';
