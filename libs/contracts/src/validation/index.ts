export { choice } from './choice.ts';
export { parseInput } from './parse.ts';
export { codePoints, isBlank, stringField, text } from './text.ts';
export { parseTimestamp, timestamp } from './timestamp.ts';
export { parseUuid } from './uuid.ts';
export * from './tasks.ts';
export * from './accounts.ts';
