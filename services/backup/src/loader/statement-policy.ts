import type { Node } from 'libpg-query';
import { judgeSelect, judgeSetting } from './settings-policy.ts';
import { refuse, RUN, SKIP, type Verdict } from './verdict.ts';

/** Statements that make or fill what a dump holds. They run as a role that owns nothing but the new database. */
const HARMLESS = new Set([
  'CreateStmt',
  'CreateTableAsStmt',
  'RefreshMatViewStmt',
  'CreateSeqStmt',
  'AlterSeqStmt',
  'ViewStmt',
  'RuleStmt',
  'CreateTrigStmt',
  'CreateEnumStmt',
  'AlterEnumStmt',
  'CreateDomainStmt',
  'AlterDomainStmt',
  'CompositeTypeStmt',
  'CreateRangeStmt',
  'AlterTypeStmt',
  'DefineStmt',
  'CreateCastStmt',
  'CreateStatsStmt',
  'AlterStatsStmt',
  'CreatePolicyStmt',
  'AlterPolicyStmt',
  'AlterFunctionStmt',
  'RenameStmt',
  'AlterObjectSchemaStmt',
  'AlterObjectDependsStmt',
  'DropStmt',
  'TruncateStmt',
  'InsertStmt',
  'UpdateStmt',
  'DeleteStmt',
  'ConstraintsSetStmt',
]);

/** Statements about owners, rights and the server's housekeeping: none of it is taken over from a dump. */
const OF_NO_EFFECT = new Set([
  'AlterOwnerStmt',
  'GrantStmt',
  'AlterDefaultPrivilegesStmt',
  'CommentStmt',
  'SecLabelStmt',
  'VacuumStmt',
  'LockStmt',
  'CreatePublicationStmt',
  'AlterPublicationStmt',
  'CreateEventTrigStmt',
  'AlterEventTrigStmt',
]);

/** Extensions that PostgreSQL itself lets any owner of a database create. */
const EXTENSIONS = new Set([
  'btree_gin', 'btree_gist', 'citext', 'cube', 'fuzzystrmatch', 'hstore', 'intarray', 'isn', 'ltree', 'pg_trgm', 'pgcrypto',
  'seg', 'tablefunc', 'tcn', 'unaccent', 'uuid-ossp',
]); // prettier-ignore

const LANGUAGES = new Set(['sql', 'plpgsql']);

/** What may happen with a parsed statement of a dump. Everything that is not known to be of use is refused. */
export function judgeStatement(node: Node): Verdict {
  const [kind = ''] = Object.keys(node);
  if (HARMLESS.has(kind)) return RUN;
  if (OF_NO_EFFECT.has(kind)) return SKIP;
  if ('CopyStmt' in node) return judgeCopy(node.CopyStmt);
  if ('AlterTableStmt' in node) return judgeAlterTable(node.AlterTableStmt);
  if ('IndexStmt' in node) return judgeIndex(node.IndexStmt);
  if ('SelectStmt' in node) return judgeSelect(node.SelectStmt);
  if ('VariableSetStmt' in node) return judgeSetting(node.VariableSetStmt);
  if ('TransactionStmt' in node) return judgeTransaction(node.TransactionStmt);
  if ('CreateExtensionStmt' in node) return judgeExtension(node.CreateExtensionStmt);
  if ('CreateSchemaStmt' in node) return judgeSchema(node.CreateSchemaStmt);
  if ('CreateFunctionStmt' in node) return judgeLanguage(node.CreateFunctionStmt.options);
  if ('DoStmt' in node) return judgeLanguage(node.DoStmt.args);
  if ('CreatePLangStmt' in node && node.CreatePLangStmt.plname === 'plpgsql') return SKIP;
  return refuse(`${kind} is not allowed in a dump`);
}

type NodeOf<Kind extends string> = Node extends infer One
  ? One extends Record<Kind, infer Body>
    ? Body
    : never
  : never;

function judgeCopy({ is_from, is_program, filename, query, options = [] }: NodeOf<'CopyStmt'>): Verdict {
  if (!is_from || is_program || filename !== undefined || query) return refuse('COPY is allowed FROM stdin only');
  for (const option of options) {
    if (!('DefElem' in option)) return refuse('COPY has an unknown option');
    const { defname = '', arg } = option.DefElem;
    const isText = defname === 'format' && textOf(arg) === 'text';
    if (!isText && !['delimiter', 'null', 'default', 'header'].includes(defname))
      return refuse(`COPY with the option ${defname} is not allowed`);
  }
  return { kind: 'copy' };
}

/** Foreign keys are not taken over, and checking them costs time. */
function judgeAlterTable({ cmds = [] }: NodeOf<'AlterTableStmt'>): Verdict {
  const superfluous = cmds.every((cmd) => {
    if (!('AlterTableCmd' in cmd)) return false;
    const { subtype, def } = cmd.AlterTableCmd;
    if (subtype === 'AT_ChangeOwner' || subtype === 'AT_ClusterOn') return true;
    return def !== undefined && 'Constraint' in def && def.Constraint.contype === 'CONSTR_FOREIGN';
  });
  return superfluous ? SKIP : RUN;
}

/** Only unique ones tell something about the rows. */
function judgeIndex({ unique, concurrent }: NodeOf<'IndexStmt'>): Verdict {
  if (!unique) return SKIP;
  return concurrent ? refuse('CREATE INDEX CONCURRENTLY is not allowed in a dump') : RUN;
}

/** All of a dump is loaded in one transaction; a rollback in it would say that something is not meant to be. */
function judgeTransaction({ kind }: NodeOf<'TransactionStmt'>): Verdict {
  const isFrame = kind === 'TRANS_STMT_BEGIN' || kind === 'TRANS_STMT_START' || kind === 'TRANS_STMT_COMMIT';
  return isFrame ? SKIP : refuse('only BEGIN and COMMIT are allowed in a dump');
}

function judgeExtension({ extname = '' }: NodeOf<'CreateExtensionStmt'>): Verdict {
  if (extname === 'plpgsql') return SKIP; // in every database already
  return EXTENSIONS.has(extname) ? RUN : refuse(`the extension ${JSON.stringify(extname)} is not allowed in a dump`);
}

/** Every new database has one. */
function judgeSchema({ schemaname, schemaElts, authrole }: NodeOf<'CreateSchemaStmt'>): Verdict {
  if (schemaElts?.length || authrole) return refuse('CREATE SCHEMA is allowed with a name only');
  return schemaname === 'public' ? { kind: 'replace', text: 'create schema if not exists public' } : RUN;
}

/** Without a language, the body is SQL that PostgreSQL has parsed. */
function judgeLanguage(options: Node[] = []): Verdict {
  for (const option of options) {
    if (!('DefElem' in option) || option.DefElem.defname !== 'language') continue;
    const language = textOf(option.DefElem.arg).toLowerCase();
    if (!LANGUAGES.has(language)) return refuse(`the language ${JSON.stringify(language)} is not allowed in a dump`);
  }
  return RUN;
}

function textOf(node: Node | undefined): string {
  return node && 'String' in node ? (node.String.sval ?? '') : '';
}
