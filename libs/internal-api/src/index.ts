export { createInternalClient, serveInternalApi, type InternalApi, type InternalClientOptions } from './define.ts';
export { authInternal, type AuthInternal, type EndedSession } from './auth.ts';
export { tasksInternal, type FeedPosition, type TasksInternal } from './tasks.ts';
