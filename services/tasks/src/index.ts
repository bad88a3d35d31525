export { createTasks, type Tasks, type TasksDeps } from './create-tasks.ts';
export { readTasksConfig, type TasksConfig } from './config.ts';
export { uuidv7Ids, type Ids } from './ids.ts';
