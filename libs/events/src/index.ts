export { TASK_CHANGES_TOPIC, parseTaskChanged, type TaskChanged, type TaskImage } from './task-changed.ts';
