import type { TaskNode } from '../operations.ts';
import type { TaskBody } from '../schemas/answers.ts';
import { restPriority } from '../task-input.ts';

export function toTask(node: TaskNode, userId: string): TaskBody {
  return {
    id: node.id,
    user_id: userId,
    title: node.title,
    description: node.description,
    completed: node.completed,
    due_date: node.dueDate,
    category: node.category,
    priority: restPriority(node.priority),
    created_at: node.createdAt,
    updated_at: node.updatedAt,
  };
}
