import { startSignInProvider, type SignInProvider } from '@taskmesh/testing/sign-in-provider';
import { startMailServer, type MailServer } from '@taskmesh/testing/mail-server';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ALLOWED_ORIGIN, describeCors } from './cors.ts';
import { describeKeyRotation } from './key-rotation.ts';
import { platformForTests, PUBLIC_URL } from './platform-for-tests.ts';
import { describeProviderSignIn } from './provider-sign-in.ts';
import { describeRecovery } from './recovery.ts';
import { describeSlowClients, REQUEST_TIMEOUT_S } from './slow-clients.ts';
import { describeTrustedDocuments, MANIFEST } from './trusted-documents.ts';

describe('the platform as separate processes, with settings of its own', () => {
  const dir = mkdtempSync(join(tmpdir(), 'taskmesh-settings-'));
  const manifest = join(dir, 'documents.json');
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
    SMTP_URL: mailServer.url,
    MAIL_FROM: 'Tasks <tasks@example.com>',
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: provider.clientId,
    OIDC_CLIENT_SECRET: provider.clientSecret,
    OIDC_NAME: 'Example',
    LOG_LEVEL: 'debug',
    TRUSTED_DOCUMENTS: 'only',
    TRUSTED_DOCUMENTS_FILE: manifest,
  }));

  afterAll(async () => {
    await mailServer.close();
    await provider.close();
    rmSync(dir, { recursive: true });
  });

  describeCors(platform);
  describeTrustedDocuments(platform);
  describeKeyRotation(platform);
  describeSlowClients(platform);
  describeRecovery(platform, (email) => mailServer.mails.filter(({ to }) => to.includes(email)).map(({ raw }) => raw));

  describeProviderSignIn(platform, () => provider);

  it('sends its mails from MAIL_FROM', () => {
    expect(mailServer.mails.length).toBeGreaterThan(0);
    for (const { to, raw } of mailServer.mails) {
      expect(to).toHaveLength(1);
      expect(raw).toMatch(/^From: Tasks <tasks@example\.com>\r?$/m);
      expect(raw).toMatch(/^Subject: \S.*$/m);
    }
  });
});
