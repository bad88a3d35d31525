export { createDatabaseLike } from './create-database.ts';
export { copyPrivileges, copySettings, renewSettings, type Replacement } from './settings.ts';
