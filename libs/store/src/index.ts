export * from './change-log/index.ts';
export * from './database/index.ts';
export * from './import/index.ts';
