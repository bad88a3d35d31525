export function StaySignedIn() {
  return (
    <label class="check">
      <input type="checkbox" name="stay" />
      <span>
        Keep me signed in <span class="soft">on this device</span>
      </span>
    </label>
  );
}
