import { explainTls, type Refusal } from '@taskmesh/service';
import { SQL_STATE } from './sql-state.ts';
import { whyUnfit } from './why-unfit.ts';

const TLS = 'sslmode in POSTGRES_URL';

const NO_ADDRESS: Refusal = {
  reason:
    'has no address: POSTGRES_URL must be postgres://user:password@host:5432/database, with special characters as %2F and the like',
  isLasting: true,
};

/** Tries to connect once; undefined when the server responds and can be used. */
export async function whyPostgresFails(connectionString: string): Promise<Refusal | undefined> {
  if (!isUrlOfPostgres(connectionString)) return NO_ADDRESS;
  try {
    return await whyUnfit(connectionString, 'taskmesh-check');
  } catch (error) {
    return refusalOf(error);
  }
}

function isUrlOfPostgres(text: string): boolean {
  return URL.canParse(text) && ['postgres:', 'postgresql:'].includes(new URL(text).protocol);
}

/** Never contains a password. */
export function refusalOf(error: unknown): Refusal {
  const names = { ca: 'sslrootcert in POSTGRES_URL', cert: 'sslcert in POSTGRES_URL', tls: TLS };
  const { code, syscall, message } = detailsOf(error);
  const reason =
    (code === SQL_STATE.invalidPassword && 'refuses the user or the password (POSTGRES_URL)') ||
    (code === SQL_STATE.invalidAuthorization && `refuses this user, or this way to it: ${message} (${TLS})`) ||
    (code === SQL_STATE.insufficientPrivilege &&
      `does not let this user (POSTGRES_URL) do enough: ${message}. The user must own the database`) ||
    (message === 'The server does not support SSL connections' && `speaks no TLS there (${TLS})`) ||
    (syscall === 'open' && 'is not reached: a file in POSTGRES_URL cannot be read (sslrootcert, sslcert or sslkey)');
  if (reason) return { reason, isLasting: true };
  // Somebody may be about to create it.
  if (code === SQL_STATE.invalidCatalogName)
    return { reason: `has no such database (POSTGRES_URL): ${message}`, isLasting: false };
  return (
    explainTls(error, names) ?? { reason: `does not answer: ${message || code || 'no reason given'}`, isLasting: false }
  );
}

function detailsOf(error: unknown): { code: string; syscall: string; message: string } {
  if (!Error.isError(error)) return { code: '', syscall: '', message: String(error) };
  const { code = '', syscall = '' } = error as NodeJS.ErrnoException; // the driver's errors have a code as well
  return { code, syscall, message: error.message }; // the message is empty when several addresses failed
}
