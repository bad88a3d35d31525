export { EPOCH_KEY, parseEpochBegan, type EpochBegan } from './epoch-began.ts';
export { TASK_CHANGES_TOPIC, parseTaskChanged, type TaskChanged, type TaskImage } from './task-changed.ts';
