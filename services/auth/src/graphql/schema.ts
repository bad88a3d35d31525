import { parse, type DocumentNode } from 'graphql';
import { readFileSync } from 'node:fs';

const FILES = [
  './schema.graphql',
  '../accounts/accounts.graphql',
  '../audit/audit.graphql',
  '../changes/changes.graphql',
  '../deletion/deletion.graphql',
  '../oidc/oidc.graphql',
  '../personal-tokens/personal-tokens.graphql',
  '../sessions/sessions.graphql',
];

export function readTypeDefs(): DocumentNode {
  return parse(FILES.map((file) => readFileSync(new URL(file, import.meta.url), 'utf8')).join('\n'));
}
