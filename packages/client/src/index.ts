export {
  createClient,
  type Client,
  type ClientOptions,
  type FetchOptions,
  type RefusedWrite,
  type WriteOptions,
} from './client.ts';
export { type Document } from './document.ts';
export { TaskmeshError, type InputIssue } from './errors.ts';
export { type LiveStatus } from './list/live-state.ts';
export { type LiveTasks, type LiveTasksOptions, type LiveTasksSnapshot } from './list/live-tasks.ts';
export { type LiveTask } from './list/overlay.ts';
export { type Task } from './list/shape.ts';
export { readSignInAnswer, type SignInAnswer } from './provider-sign-in.ts';
export { type User } from './session.ts';
export { createMemoryStorage, type Storage } from './storage.ts';
export { type Time } from './time.ts';
export * from './operations.generated.ts';
