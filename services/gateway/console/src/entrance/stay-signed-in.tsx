export function StaySignedIn() {
  return (
    <label class="check">
      <input type="checkbox" name="stay" />
      Keep me signed in on this device
    </label>
  );
}
