import type { FastifyInstance } from 'fastify';
import { servePage } from '../page.ts';

/** The page behind the link of a mail to a new address: hands the mail's token over when somebody says so. */
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
