export function Statistics({ total, open }: { total: number; open: number }) {
  if (total === 0) return null;
  const done = total - open;
  return (
    <div class="statistics">
      <p>
        <strong>{open}</strong> open, <strong>{done}</strong> done
      </p>
      <progress aria-label="Done" max={total} value={done} />
      <p class="percent" aria-hidden="true">
        {Math.floor((100 * done) / total)} %
      </p>
    </div>
  );
}
