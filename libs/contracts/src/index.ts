export * from './errors.ts';
export { sealCursor, unsealCursor } from './events/signed-cursor.ts';
export { TASK_CHANGES_TOPIC, parseTaskChanged, type TaskChanged, type TaskImage } from './events/task-changed.ts';
export { GRAPH_FIELDS, TASK_FIELDS, type ColumnType, type TaskRow } from './events/task-fields.ts';
export * from './validation/accounts.ts';
export { parseInput, parseUuid } from './validation/parse.ts';
export * from './validation/tasks.ts';
export { choice, codePoints, isBlank, stringField, text } from './validation/text.ts';
export { parseTimestamp, timestamp } from './validation/timestamp.ts';
