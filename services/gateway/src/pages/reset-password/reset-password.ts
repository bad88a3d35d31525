import type { FastifyInstance } from 'fastify';
import { servePage } from '../page.ts';

/** The page that a recovery mail links to: asks for a new password, and sends it with the mail's token. */
export function serveResetPassword(app: FastifyInstance): void {
  servePage(app, {
    url: '/reset-password',
    html: new URL('./reset-password.html', import.meta.url),
    files: {
      'form.css': new URL('../form.css', import.meta.url),
      'token-form.js': new URL('../token-form.browser.js', import.meta.url),
    },
  });
}
