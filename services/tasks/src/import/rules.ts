import { createTaskInput, TASK_FIELDS } from '@taskmesh/contracts';
import { STORE_TABLES } from '@taskmesh/internal-api';
import { BLANKS, valueOf, type Columns, type RowRule, type StoreRules } from '@taskmesh/store';
import { z } from 'zod';

/** Applies the rules of @taskmesh/contracts to imported rows; both measure lengths in code points. `$1` is `BLANKS`. */
function rulesFor(columns: Columns): RowRule[] {
  const present = Object.entries(TASK_FIELDS).filter(([, { column }]) => columns.has(column));
  return [
    ...present.flatMap(([field, { column, type }]) =>
      limitRules(column, valueOf(columns, column, type), limitsOf(field)),
    ),
    { sentence: 'title is not blank', broken: `btrim(${valueOf(columns, 'title', 'text')}, $1::text) = ''` },
  ];
}

interface Limits {
  minLength?: number;
  maxLength?: number;
  choices?: string[];
}

function limitRules(column: string, value: string, { minLength, maxLength, choices }: Limits): RowRule[] {
  const rules: RowRule[] = [];
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

const INPUT = z.toJSONSchema(createTaskInput, { io: 'input' }).properties ?? {};

/** Returns the limits for a field of a new task; none for fields that callers do not set. */
function limitsOf(field: string): Limits {
  const schema = INPUT[field];
  if (typeof schema !== 'object') return {};
  const { minLength, maxLength, enum: choices } = schema.anyOf?.find(({ type }) => type !== 'null') ?? schema;
  return { minLength, maxLength, choices: choices?.map(String) };
}

export const taskRules: Omit<StoreRules, 'complete'> = {
  table: 'tasks',
  columns: Object.fromEntries(
    Object.values(TASK_FIELDS).map(({ column, type, isNullable }) => [
      column,
      { type, isNullable, isVersion: column === 'version' },
    ]),
  ),
  // The columns of the interface document, which dumps from other systems have.
  required: [
    ...['id', 'user_id', 'title', 'description', 'completed', 'due_date', 'category', 'priority'],
    ...['created_at', 'updated_at'],
  ],
  rulesFor,
  values: [BLANKS],
  duplicates: 'Two rows of the table tasks have the same id.',
  tables: STORE_TABLES.tasks,
};
