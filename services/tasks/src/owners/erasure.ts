import { STORE_TABLES } from '@taskmesh/internal-api';

/** The tables whose rows belong to owners, each with the column that says to whom. */
export const OWNED = Object.entries(STORE_TABLES.tasks).flatMap(([name, { owner }]) =>
  owner ? [{ table: `public.${name}`, owner }] : [],
);
