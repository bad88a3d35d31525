// The entry point of a Taskmesh container: the arguments select the part.
import { existsSync, readdirSync, readFileSync } from 'node:fs';

const ROOT = new URL('../../', import.meta.url);
const PARTS = new Map([
  ...readdirSync(new URL('services/', ROOT)).flatMap(partsOf),
  ['all', 'deploy/all-in-one/src/main.ts'],
  ['keys', 'deploy/local/src/keys.main.ts'],
  ['healthcheck', 'deploy/image/healthcheck.main.ts'],
]);

/** Secret settings. NAME_FILE may name a file with the value, as container engines mount secrets. */
const SECRETS = [
  ...['POSTGRES_URL', 'REDIS_URL', 'SMTP_URL', 'AUTH_ADMIN_URL', 'TASKS_ADMIN_URL', 'BACKUP_S3_URL'],
  ...['BACKUP_TOKEN', 'BACKUP_WEBHOOK_URL', 'REALTIME_ANON_KEY', 'OIDC_CLIENT_SECRET', 'KAFKA_SASL_PASSWORD'],
];

const [part = '', ...rest] = process.argv.slice(2);
const name = part === 'migrate' ? `${part} ${rest[0]}` : part;
const file = PARTS.get(name);
if (!file) {
  process.stderr.write(`Name the part to run, one of: ${[...PARTS.keys()].join(', ')}.\n`);
  process.exit(2);
}
endAtOnceUntilHandled('SIGTERM');
readSecrets(process.env);
await import(new URL(file, ROOT).href);

/** Returns a service, and the migrations of its store if it has one. */
function partsOf(service: string): [string, string][] {
  const parts: [string, string][] = [
    [service, `services/${service}/src/main.ts`],
    [`migrate ${service}`, `services/${service}/migrations/main.ts`],
  ];
  return parts.filter(([, file]) => existsSync(new URL(file, ROOT)));
}

/** A process with PID 1 ignores signals without a listener, so nothing could end it while it loads. */
function endAtOnceUntilHandled(signal: NodeJS.Signals): void {
  const end = () => process.exit(143);
  process.on(signal, end);
  process.on('newListener', function onNewListener(event) {
    if (event !== signal) return;
    process.off('newListener', onNewListener);
    // Removed only after the new listener is registered: without any listener, Node stops handling the signal.
    queueMicrotask(() => process.off(signal, end));
  });
}

function readSecrets(env: NodeJS.ProcessEnv): void {
  for (const name of SECRETS) {
    const file = env[`${name}_FILE`];
    try {
      // Secret files often end with a line break. A variable of only blanks stays, so that its service refuses it.
      const value = env[name]?.trim() || (file && readFileSync(file, 'utf8').trim());
      if (value) env[name] = value;
      else if (file && !env[name]) throw new Error('it is empty');
    } catch (error) {
      // A system error's message has the name of the file, in whose place a secret may have been pasted.
      const { code, message } = error as NodeJS.ErrnoException;
      process.stderr.write(`${name}_FILE cannot be used: ${code ?? message}\n`);
      process.exit(1);
    }
  }
}
