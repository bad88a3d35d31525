import type { Data } from '../projection/own-value.ts';
import type { Representation } from './representations.ts';

/** Objects that a service is asked about, and of each the place of its representation. */
export interface Gathered {
  targets: Data[];
  places: number[];
}

/**
 * The representations for one request, each different one once. Texts are only written of objects that have not been met, as far
 * as that can be seen by their values.
 */
export class Gathering {
  /** The representations, with commas between them. */
  text = '';
  count = 0;
  readonly #representationOf: (typeName: unknown) => Representation;
  /** The last place of a value: the one before it that has the same is in `#previous`. */
  readonly #byValue = new Map<unknown, number>();
  readonly #previous: (number | undefined)[] = [];
  readonly #first: Data[] = [];

  constructor(representationOf: (typeName: unknown) => Representation) {
    this.#representationOf = representationOf;
  }

  add(objects: readonly Data[]): Gathered {
    const targets: Data[] = [];
    const places: number[] = [];
    for (const object of objects) {
      const place = this.#placeOf(object);
      if (place === undefined) continue;
      targets.push(object);
      places.push(place);
    }
    return { targets, places };
  }

  #placeOf(object: Data): number | undefined {
    const { read, write } = this.#representationOf(object.__typename);
    const first = read?.[0];
    const value = first ? comparable(first(object)) : write(object);
    const last = this.#byValue.get(value);
    for (let place = last; place !== undefined; place = this.#previous[place]) {
      const known = this.#first[place];
      if (known && known.__typename === object.__typename && (!read || hasSame(known, object, read))) return place;
    }
    const text = read ? write(object) : String(value);
    if (text === '') return undefined;
    this.text += this.count === 0 ? text : `,${text}`;
    this.#first.push(object);
    this.#previous.push(last);
    this.#byValue.set(value, this.count);
    return this.count++;
  }
}

/** Besides the first value. */
function hasSame(one: Data, other: Data, read: readonly ((object: Data) => unknown)[]): boolean {
  for (let index = 1; index < read.length; index++)
    if (comparable(read[index]?.(one)) !== comparable(read[index]?.(other))) return false;
  return true;
}

/** Custom scalars may be objects. */
function comparable(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
}
