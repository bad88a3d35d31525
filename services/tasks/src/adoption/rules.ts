import { valueOf, type Columns, type RowRule } from '@taskmesh/database';
import { TASK_FIELDS, type ColumnType } from '@taskmesh/events';
import { createTaskInput, isBlank } from '@taskmesh/validation';
import { z } from 'zod';

/** The columns of a store, and what they are there. */
export const TASK_COLUMNS: readonly TaskColumn[] = Object.entries(TASK_FIELDS).map(([field, description]) => ({
  field,
  ...description,
}));

interface TaskColumn {
  field: string;
  column: string;
  type: ColumnType;
  isNullable: boolean;
}

/** Those of the interface document: a dump from elsewhere has them. What it may be without has a default in the store. */
export const NEEDED_COLUMNS = [
  'id',
  'user_id',
  'title',
  'description',
  'completed',
  'due_date',
  'category',
  'priority',
  'created_at',
  'updated_at',
];

/**
 * The rules of @taskmesh/validation for rows that did not come through it; length counts code points here as there.
 * `$1` is `BLANKS`. Of a version, which is made anew where it is of no use, see `archivedRulesFor`.
 */
export function rulesFor(columns: Columns): RowRule[] {
  const present = TASK_COLUMNS.filter(({ column }) => column !== 'version' && columns.has(column));
  return [
    ...present.flatMap((each) => rulesOf(each, valueOf(columns, each.column, each.type))),
    { sentence: 'title is not blank', broken: `btrim(${valueOf(columns, 'title', 'text')}, $1::text) = ''` },
  ];
}

function rulesOf({ field, column, type, isNullable }: TaskColumn, value: string): RowRule[] {
  const { minLength, maxLength, choices } = limitsOf(field);
  const rules: RowRule[] = [];
  if (!isNullable)
    rules.push({ sentence: `${column} is needed and must be of the type ${type}`, broken: `${value} is null` });
  else if (type !== 'text')
    rules.push({
      sentence: `${column} must be of the type ${type}, or null`,
      broken: `(r.${column} is not null and ${value} is null)`,
    });
  if (type === 'timestamptz(3)')
    rules.push({
      sentence: `${column} is in the years 0001 to 9999`,
      broken: `(${value} < '0001-01-01T00:00Z' or ${value} >= '10000-01-01T00:00Z')`,
    });
  if (minLength)
    rules.push({
      sentence: `${column} has at least ${minLength} characters`,
      broken: `char_length(${value}) < ${minLength}`,
    });
  if (maxLength !== undefined)
    rules.push({
      sentence: `${column} has at most ${maxLength} characters`,
      broken: `char_length(${value}) > ${maxLength}`,
    });
  if (choices)
    rules.push({
      sentence: `${column} is one of ${choices.join(', ')}`,
      broken: `${value} not in (${choices.map((choice) => `'${choice}'`).join(', ')})`,
    });
  return rules;
}

interface Limits {
  minLength?: number;
  maxLength?: number;
  choices?: string[];
}

const INPUT = z.toJSONSchema(createTaskInput, { io: 'input' }).properties ?? {};

/** What a new task may have there; of what callers do not give, nothing. */
function limitsOf(field: string): Limits {
  const schema = INPUT[field];
  if (typeof schema !== 'object') return {};
  const { minLength, maxLength, enum: choices } = schema.anyOf?.find(({ type }) => type !== 'null') ?? schema;
  return { minLength, maxLength, choices: choices?.map(String) };
}

/** Far from the end of the type, so that there is room for what comes; of epochs, too. */
export const LARGEST_VERSION = 2_000_000_000;

/** The same for rows that are taken as they are. */
export function archivedRulesFor(columns: Columns): RowRule[] {
  const broken = `r.version not between 1 and ${LARGEST_VERSION}`;
  return [...rulesFor(columns), { sentence: `version is between 1 and ${LARGEST_VERSION}`, broken }];
}

const LAST_OF_THE_BASIC_PLANE = 0xffff;

/** Every character that a blank title may consist of; all of them are in the basic plane. */
export const BLANKS = Array.from({ length: LAST_OF_THE_BASIC_PLANE }, (_, code) => String.fromCharCode(code + 1))
  .filter((character) => character.isWellFormed() && isBlank(character))
  .join('');
