const DAY_MS = 24 * 3_600_000;

/** By category: a title, optionally with a description after a colon, and the days until the task is due. */
const TITLES: Record<string, [title: string, dueInDays?: number][]> = {
  work: [
    ['Answer the questions of the auditors: they need the logs of last month', 2],
    ['Prepare the talk about change feeds: 30 minutes, with a live list', 9],
    ['Read the incident report', -1],
    ['Plan the next quarter', 20],
    ['Renew the certificates', 5],
    ['Ask Grace about the compiler'],
    ['Write the release notes', -3],
    ['Move the build to Node 24'],
  ],
  home: [
    ['Repair the bicycle: the rear brake, and a new chain', 1],
    ['Call the electrician', 0],
    ['Sort the photographs of last summer'],
    ['Return the books to the library', 4],
    ['Paint the kitchen', 30],
    ['Order a new lamp for the desk'],
    ['Pay the rent', -2],
    ['Find the warranty of the washing machine', 12],
  ],
  garden: [
    ['Prune the apple tree', 14],
    ['Sow the winter lettuce', 3],
    ['Clean the gutters before the frost', 7],
    ['Build a compost bin: old pallets will do'],
    ['Lift the dahlias', 6],
    ['Sharpen the shears'],
    ['Water the seedlings', -4],
    ['Draw a plan of the beds', 25],
  ],
};

const PRIORITIES = ['MEDIUM', 'HIGH', 'LOW'] as const;

/** Returns a varied list: with and without due dates, of every category and priority, some completed. */
export function demoTasks(now: Date) {
  return Object.entries(TITLES).flatMap(([category, tasks]) =>
    tasks.map(([text, dueInDays], index) => {
      const [title = text, description] = text.split(': ', 2);
      return {
        title,
        ...(description && { description }),
        category,
        priority: PRIORITIES[index % PRIORITIES.length] ?? 'MEDIUM',
        ...(dueInDays !== undefined && { dueDate: new Date(now.getTime() + dueInDays * DAY_MS).toISOString() }),
        completed: dueInDays !== undefined && dueInDays < -1,
      };
    }),
  );
}
