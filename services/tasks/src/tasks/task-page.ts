import type { Task } from './task.entity.ts';
import type { TaskOrder } from './task-order.ts';

export interface TaskPlace {
  node: Task;
  order: TaskOrder;
}

export interface TaskPage {
  edges: TaskPlace[];
  pageInfo: {
    hasNextPage: boolean;
    hasPreviousPage: boolean;
    startCursor: string | null;
    endCursor: string | null;
  };
  /** 0 unless requested. */
  totalCount: number;
  /** Empty unless requested. */
  changesCursor: string;
}

export interface RequestedFields {
  tasks: boolean;
  totalCount: boolean;
  changesCursor: boolean;
  hasPreviousPage: boolean;
}
