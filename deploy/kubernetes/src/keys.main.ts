import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { createSecret, makeKeys } from './create-secret.ts';

// A hook of the chart that creates an installation's keys once.
const TOKEN_FILE = '/var/run/secrets/kubernetes.io/serviceaccount/token';

const environment = z.object({
  KUBERNETES_SERVICE_HOST: z.string(),
  KUBERNETES_SERVICE_PORT: z.string(),
  SECRET_NAME: z.string(),
  SECRET_NAMESPACE: z.string(),
});

try {
  const env = environment.parse(process.env);
  const host = env.KUBERNETES_SERVICE_HOST;
  const isNew = await createSecret(
    {
      url: `https://${host.includes(':') ? `[${host}]` : host}:${env.KUBERNETES_SERVICE_PORT}`,
      token: readFileSync(TOKEN_FILE, 'utf8').trim(),
    },
    { name: env.SECRET_NAME, namespace: env.SECRET_NAMESPACE, data: await makeKeys() },
  );
  console.log(`The secret ${env.SECRET_NAME} ${isNew ? 'was created' : 'exists and is unchanged'}.`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
