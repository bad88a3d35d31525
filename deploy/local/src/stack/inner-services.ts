/** The services behind the gateways. None calls another one to start. */
export const INNER_SERVICES = ['auth', 'tasks', 'backup'] as const;
export type InnerService = (typeof INNER_SERVICES)[number];

/** Every store has a database of its own. */
export const DATABASES: Record<InnerService, string> = {
  auth: 'taskmesh_auth',
  tasks: 'taskmesh_tasks',
  backup: 'taskmesh_backup',
};
