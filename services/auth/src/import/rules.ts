import { STORE_TABLES } from '@taskmesh/internal-api';
import {
  BLANKS,
  brokenRules,
  charactersThat,
  inOurYears,
  STORE,
  valueOf,
  type Columns,
  type ImportedColumn,
  type RowRule,
  type StoreRules,
} from '@taskmesh/store';
import { checkEmailKeys, isAscii } from './email-keys.ts';

const needed = {
  id: { type: 'uuid' },
  email: { type: 'text' },
  email_key: { type: 'text' },
  name: { type: 'text' },
  password_hash: { type: 'text' },
  email_confirmed_at: { type: 'timestamptz(3)' },
  created_at: { type: 'timestamptz(3)' },
  updated_at: { type: 'timestamptz(3)' },
} as const satisfies Record<string, ImportedColumn>;

const CONTROL = `'[\\u0001-\\u001f\\u007f-\\u009f]'`;
/** Any white space; addresses contain none. */
const SPACES = charactersThat((character) => /\s/.test(character));

/** Applies @taskmesh/contracts's rules to rows that bypassed it. `$1` is `SPACES`, `$2` is `BLANKS`. */
function rulesFor(columns: Columns): RowRule[] {
  const value = (name: keyof typeof needed) => valueOf(columns, name, needed[name].type);
  const email = value('email');
  return [
    {
      sentence: 'email is an e-mail address',
      broken: `(char_length(${email}) > 254 or ${email} !~ '^[^@]+@[^@]+$' or ${email} ~ ${CONTROL}
        or translate(${email}, $1::text, '') <> ${email})`,
    },
    {
      sentence: 'email_key is made from email',
      broken: `(${isAscii(email)} and ${value('email_key')} <> lower(${email} collate "C"))`,
    },
    {
      sentence: 'name has 1 to 255 characters',
      broken: `(char_length(${value('name')}) > 255 or btrim(${value('name')}, $2::text) = '')`,
    },
  ];
}

export const accountRules: Omit<StoreRules, 'complete'> = {
  table: 'accounts',
  columns: { ...needed, has_password: { type: 'boolean' }, password_version: { type: 'integer', isVersion: true } },
  needed: Object.keys(needed),
  rulesFor,
  values: [SPACES, BLANKS],
  duplicates: 'Two rows of the table accounts have the same id or the same address.',
  tables: STORE_TABLES.auth,
  async check(session, schema, columns) {
    const reason = await checkEmailKeys(session, schema, columns);
    if (reason !== undefined || schema !== STORE) return reason;
    const timesOf = (table: string, columns: string[]) =>
      brokenRules(
        session,
        { schema, table },
        columns.map((column) => inOurYears(column, `r.${column}`)),
        [],
      );
    return (await timesOf('audit_log', ['at'])) ?? timesOf('linked_identities', ['created_at', 'last_used_at']);
  },
};
