import { parse, type DocumentNode } from 'graphql';
import { readFileSync } from 'node:fs';

const FILES = ['./schema.graphql', '../archives/archives.graphql', '../restore/restore.graphql'];

export function readTypeDefs(): DocumentNode {
  return parse(FILES.map((file) => readFileSync(new URL(file, import.meta.url), 'utf8')).join('\n'));
}
