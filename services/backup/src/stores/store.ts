/** The stores that are backed up; each belongs to the service of that name. */
export const STORE_NAMES = ['tasks', 'auth'] as const;

export type StoreName = (typeof STORE_NAMES)[number];
