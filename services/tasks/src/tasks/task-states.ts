import { PRIORITIES, type Priority } from '@taskmesh/validation';

/** All that a task can be by the filters with few values, in the order of the number that `stateOf` gives it. */
export const TASK_STATES = [false, true].flatMap((completed) =>
  PRIORITIES.map((priority) => ({ completed, priority, column: `${completed ? 'completed' : 'pending'}_${priority}` })),
);

/** SQL of a priority's rank. */
export const RANK = `(case priority when 'low' then 0 when 'medium' then 1 else 2 end)`;

/** SQL of the state's number. */
export const STATE = `(case when completed then 3 else 0 end + ${RANK})`;

export interface StateFilter {
  completed?: boolean | null;
  priority?: Priority | null;
}

/** The numbers of all states that match. */
export function statesOf({ completed, priority }: StateFilter): number[] {
  return TASK_STATES.flatMap((state, number) =>
    (completed ?? state.completed) === state.completed && (priority ?? state.priority) === state.priority
      ? [number]
      : [],
  );
}
