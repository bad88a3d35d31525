import type { FastifyInstance } from 'fastify';
import { servePage } from '../page.ts';

/** The page that a mail to a new address links to: sends the mail's token when the user confirms. */
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
