export { createAuth, type Auth, type AuthDeps } from './create-auth.ts';
export { readAuthConfig, whyMailsFail, type AuthConfig } from './config.ts';
export { UndeliverableError, type Mail, type Mailer } from '@taskmesh/mail';
