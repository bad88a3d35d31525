import type { FastifyInstance } from 'fastify';
import { servePage } from '../page.ts';

/** The page that a mail to a new address links to: asks for the account's password, and sends it with the mail's token. */
export function serveConfirmEmail(app: FastifyInstance): void {
  servePage(app, {
    url: '/confirm-email',
    html: new URL('./confirm-email.html', import.meta.url),
    files: {
      'form.css': new URL('../form.css', import.meta.url),
      'token-form.js': new URL('../token-form.browser.js', import.meta.url),
    },
  });
}
