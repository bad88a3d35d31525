export function Brand() {
  return (
    <span class="brand">
      <svg viewBox="0 0 32 32" aria-hidden="true" focusable="false">
        <rect width="32" height="32" rx="8" />
        <path d="m9 16.5 4.6 4.6L23.5 11" />
      </svg>
      Taskmesh
    </span>
  );
}
