export { createTasks, type Tasks, type TasksDeps } from './create-tasks.ts';
export { readTasksConfig, type TasksConfig } from './config.ts';
