export { ACCOUNTS_TOPIC, encodeAccountDeleted, parseAccountDeleted, type AccountDeleted } from './account-deleted.ts';
export { GRAPH_FIELDS, TASK_FIELDS, type ColumnType, type TaskRow } from './task-fields.ts';
export { TASK_CHANGES_TOPIC, parseTaskChanged, type TaskChanged, type TaskImage } from './task-changed.ts';
export { sealCursor, unsealCursor } from './signed-cursor.ts';
