import type { Task } from './task.entity.ts';
import type { TaskOrder } from './task-order.ts';

/** A task on a page, and the order in which it stands there: what its cursor is made of. */
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
  /** 0 unless it was wanted. */
  totalCount: number;
  /** Empty unless it was wanted. */
  changesCursor: string;
}

/** The fields of a page that the caller selects; the others are not computed. */
export interface RequestedFields {
  tasks: boolean;
  totalCount: boolean;
  changesCursor: boolean;
  hasPreviousPage: boolean;
}
