export class RestoreBusy extends Error {
  override readonly name = 'RestoreBusy';
  constructor() {
    super('Another restore is running; try again later.');
  }
}
