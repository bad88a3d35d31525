import { explain } from '../requests/explain.ts';

/** Why the last attempt failed, for users. Shows nothing without an error. */
export function ActionError({ error }: { error: unknown }) {
  if (error === undefined) return null;
  return (
    <p class="form-error" role="alert">
      {explain(error)}
    </p>
  );
}
