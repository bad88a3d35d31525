export { createAuth, type Auth } from './create-auth.ts';
export type { AuthDeps } from './common-parts.ts';
export { readAuthConfig, findMailProblems, type AuthConfig } from './config.ts';
export { UndeliverableError, type Mail, type Mailer } from '@taskmesh/mail';
