import { Sentence } from '../elements/sentence.tsx';
import { explainError } from './api/operators-error.ts';

/** Shows an error in the place of the action that failed. */
export function Problem({ error, onAgain }: { error: unknown; onAgain?: () => void }) {
  if (error === undefined) return null;
  return (
    <div class="failure" role="alert">
      <p>
        <Sentence text={explainError(error)} />
      </p>
      {onAgain && (
        <button type="button" onClick={onAgain}>
          Try again
        </button>
      )}
    </div>
  );
}
