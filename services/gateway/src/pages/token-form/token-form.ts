import type { FastifyInstance } from 'fastify';
import { LOOK } from '../look/look.ts';
import { servePage } from '../page.ts';

/**
 * The pages that mails link to with a token, which they send together with a password: the new one of a recovery, or the
 * account's own to confirm a new address.
 */
export function serveTokenForms(app: FastifyInstance): void {
  for (const name of ['reset-password', 'confirm-email'])
    servePage(app, {
      url: `/${name}`,
      html: new URL(`./${name}.html`, import.meta.url),
      ...LOOK,
      files: { ...LOOK.files, 'token-form.js': new URL('./token-form.browser.js', import.meta.url) },
    });
}
