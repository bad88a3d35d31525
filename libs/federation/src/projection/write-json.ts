import { leafWriter } from './leaf-values.ts';
import { reader, type Data } from './safe-read.ts';
import type { FieldPlan, ObjectPlan, Slot, ValuePlan } from './projection-plan.ts';

export interface TextRun {
  /** Some value did not conform to the schema; `build-value.ts` finds out which and where. */
  isIncomplete: boolean;
  introspect: (field: FieldPlan) => string;
}

/** Writes a value as JSON. Empty for null in a non-null place, so that the null moves up to the parent. */
export type Write = (value: unknown, run: TextRun) => string;

export interface FieldWriter {
  /** The key with a leading comma, if needed, and a colon. */
  label: string;
  write: (object: Data, run: TextRun) => string;
}

export function fieldWriters({ fields }: ObjectPlan): FieldWriter[] {
  return fields.map((field, index) => ({
    label: `${index > 0 ? ',' : ''}${JSON.stringify(field.key)}:`,
    write: fieldWriter(field),
  }));
}

function fieldWriter(field: FieldPlan): FieldWriter['write'] {
  const { source } = field;
  switch (source.kind) {
    case 'introspection':
      return (_object, run) => run.introspect(field);
    case 'type name': {
      const { known } = source;
      if (known !== undefined) return () => `"${known}"`;
      return (_object, run) => missing(run);
    }
    case 'data': {
      const read = reader(source.from);
      const write = slotWriter(source.slot);
      return (object, run) => write(read(object), run);
    }
  }
}

function slotWriter({ isNonNull, value: plan }: Slot): Write {
  const write = valueWriter(plan);
  if (isNonNull) return (value, run) => (value === null || value === undefined ? missing(run) : write(value, run));
  return (value, run) => (value === null || value === undefined ? 'null' : write(value, run) || 'null');
}

/** For values that are there. */
function valueWriter(plan: ValuePlan): Write {
  switch (plan.kind) {
    case 'leaf': {
      const write = leafWriter(plan.leaf);
      return (value, run) => write(value) || missing(run);
    }
    case 'list':
      return listWriter(slotWriter(plan.item));
    case 'object':
      return objectWriter(plan.object);
    case 'abstract': {
      const writers = new Map<ObjectPlan, Write>();
      return (value, run) => {
        const object = plan.planOf((value as Data).__typename);
        if (!object) return missing(run);
        let write = writers.get(object);
        if (!write) writers.set(object, (write = objectWriter(object)));
        return write(value, run);
      };
    }
  }
}

function listWriter(write: Write): Write {
  return (value, run) => {
    if (!Array.isArray(value)) return missing(run);
    let text = '[';
    for (let index = 0; index < value.length; index++) {
      const item = write(value[index], run);
      if (item === '') return '';
      text += index === 0 ? item : `,${item}`;
    }
    return `${text}]`;
  };
}

function objectWriter(plan: ObjectPlan): Write {
  const writers = fieldWriters(plan);
  return (value, run) => {
    if (typeof value !== 'object' || Array.isArray(value)) return missing(run);
    let text = '{';
    for (const { label, write } of writers) {
      const field = write(value as Data, run);
      if (field === '') return '';
      text += label + field;
    }
    return `${text}}`;
  };
}

function missing(run: TextRun): string {
  run.isIncomplete = true;
  return '';
}
