import { constants } from 'node:os';

export type InterruptingSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** The user interrupted the command, which first removes its temporary archive. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  /** As shells report it: 128 plus the signal's number. */
  readonly exitStatus: number;

  constructor(exitStatus: number, message: string) {
    super(message);
    this.exitStatus = exitStatus;
  }

  with(hint: string): Interrupted {
    return new Interrupted(this.exitStatus, `${this.message} ${hint}`);
  }
}

export const exitStatusOf = (signal: InterruptingSignal): number => 128 + constants.signals[signal];

export function createInterruption() {
  const controller = new AbortController();
  return {
    signal: controller.signal,
    interrupt: (signal: InterruptingSignal) => controller.abort(new Interrupted(exitStatusOf(signal), 'Interrupted.')),
  };
}
