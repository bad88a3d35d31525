import { startSignInProvider, type SignInProvider } from '@taskmesh/testing/sign-in-provider';
import { startMailServer, type MailServer, type ReceivedMail } from '@taskmesh/testing/mail-server';
import { eventually, makeTempDir } from '@taskmesh/testing';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clientOf } from './client.ts';
import { ALLOWED_ORIGIN, describeCors } from './cors.ts';
import { describeKeyRotation } from './key-rotation.ts';
import { platformForTests, PUBLIC_URL } from './platform-for-tests.ts';
import { describeProviderSignIn } from './provider-sign-in.ts';
import { tokenIn } from './recovery.ts';
import { describeSlowClients, REQUEST_TIMEOUT_S } from './slow-clients.ts';
import { describeTrustedDocuments, MANIFEST } from './trusted-documents.ts';

describe('the platform as separate processes, with settings of its own', () => {
  const manifest = join(makeTempDir(), 'documents.json');
  let mailServer: MailServer;
  let provider: SignInProvider;

  beforeAll(async () => {
    writeFileSync(manifest, JSON.stringify(MANIFEST));
    mailServer = await startMailServer();
    provider = await startSignInProvider({ redirectUri: `${PUBLIC_URL}/api/auth/oidc/callback` });
  });

  const platform = platformForTests('stack', () => ({
    CORS_ORIGINS: ALLOWED_ORIGIN,
    REQUEST_TIMEOUT_S: String(REQUEST_TIMEOUT_S),
    ...{ SMTP_URL: mailServer.url, MAIL_FROM: 'Tasks <tasks@example.com>', LOG_LEVEL: 'debug' },
    ...{ OIDC_ISSUER: provider.issuer, OIDC_CLIENT_ID: provider.clientId, OIDC_NAME: 'Example' },
    ...{ OIDC_CLIENT_SECRET: provider.clientSecret, TRUSTED_DOCUMENTS: 'only', TRUSTED_DOCUMENTS_FILE: manifest },
  }));

  afterAll(() => mailServer.close());

  describeCors(platform);
  describeTrustedDocuments(platform);
  describeKeyRotation(platform);
  describeSlowClients(platform);
  describeProviderSignIn(platform, () => provider);

  it('sends mails over SMTP from MAIL_FROM, to one address each, with a valid token', async () => {
    const client = clientOf(platform);
    const accounts = [await client.signUp(), await client.signUp()];
    for (const { email } of accounts) await client.call('POST', '/api/auth/forgot-password', { json: { email } });
    const to = (email: string) => mailServer.mails.filter((mail) => mail.to.includes(email));
    for (const { email } of accounts) {
      const [{ raw }] = await eventually(() => (expect(to(email)).toHaveLength(1), to(email) as [ReceivedMail]));
      const json = { token: tokenIn(raw, PUBLIC_URL), password: 'another long and winding phrase' };
      expect((await client.call('POST', '/api/auth/reset-password', { json })).status).toBe(200);
    }
    for (const mail of mailServer.mails) {
      expect(mail.to).toHaveLength(1);
      expect(mail.raw).toMatch(/^From: Tasks <tasks@example\.com>\r?$/m);
      expect(mail.raw).toMatch(/^Subject: \S.*$/m);
    }
  });
});
