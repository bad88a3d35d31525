import { parse, type DocumentNode } from 'graphql';
import { readFileSync } from 'node:fs';

const FILES = ['./schema.graphql', '../tasks/tasks.graphql', '../tasks/task-changes.graphql'];

export function readTypeDefs(): DocumentNode {
  return parse(FILES.map((file) => readFileSync(new URL(file, import.meta.url), 'utf8')).join('\n'));
}
