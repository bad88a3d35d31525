import type { Task, UpdateTaskInput } from '@taskmesh/client';
import type { Field } from './conflict.ts';

export const FIELD_LABELS: Record<Field, string> = {
  title: 'Title',
  description: 'Notes',
  completed: 'State',
  dueDate: 'Due',
  priority: 'Priority',
  category: 'Category',
};

export const PRIORITY_LABELS: Record<Task['priority'], string> = { HIGH: 'High', MEDIUM: 'Medium', LOW: 'Low' };

export function formatValue(field: Field, { [field]: value }: Task | UpdateTaskInput): string {
  if (value === null || value === undefined || value === '') return 'Nothing';
  switch (field) {
    case 'completed':
      return value ? 'Done' : 'Open';
    case 'dueDate':
      return new Date(String(value)).toLocaleString(undefined, { dateStyle: 'medium' });
    case 'priority':
      return PRIORITY_LABELS[value as Task['priority']];
    default:
      return String(value);
  }
}
