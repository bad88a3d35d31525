import { runBothWays } from './compare-with-graphql-js.ts';
import { fittingArguments } from './random-arguments.ts';
import { randomOperation } from './random-operations.ts';
import { createDice, hash } from './seeded-random.ts';
import { createWorld, type Source, type Subgraph, type WorldOptions } from './world.ts';

const numberOf = (place: string, most = 100) => hash(place) % most;

/** Keys of objects in objects, and in lists, which random graphs lack. */
const nestedKeys: { subgraphs: Subgraph[]; fixed: WorldOptions['fixed'] } = {
  subgraphs: [
    {
      name: 'halls',
      sdl: `
        type Query { seats: [[Seat]] hall: Hall! }
        type Hall @key(fields: "name") { name: String! seats: [Seat!] }
        type Seat @key(fields: "row { hall { name } number } side") { row: Row! side: String! price: Int }
        type Row @shareable { hall: Hall! number: Int! }
      `,
    },
    {
      name: 'guests',
      sdl: `
        type Query { guest: Guest }
        type Hall @key(fields: "name") { name: String! rating: Float }
        type Seat @key(fields: "row { hall { name } number } side") { row: Row! side: String! isTaken: Boolean guest: Guest }
        type Row @shareable { hall: Hall! number: Int! }
        type Guest @key(fields: "id") @key(fields: "seat { side row { number hall { name } } }") { id: ID! seat: Seat! }
      `,
    },
    {
      name: 'names',
      sdl: `
        type Guest @key(fields: "seat { side row { number hall { name } } }") { seat: Seat! nick: String! bill: Int }
        type Seat { side: String! @shareable row: Row! @shareable }
        type Row @shareable { number: Int! hall: Hall! }
        type Hall @key(fields: "name") { name: String! owner: String }
      `,
    },
  ],
  fixed(type, field, source) {
    const hall = (name: unknown): Source => ({ __typename: 'Hall', name, id: String(name) });
    const seat = (name: unknown, number: unknown, side: unknown): Source => {
      const row = { __typename: 'Row', hall: hall(name), number };
      return { __typename: 'Seat', row, side };
    };
    const placeOf = ({ row, side }: Source) => {
      const { number, hall: of } = row as { number: number; hall: { name: string } };
      return `${of.name} ${number} ${String(side)}`;
    };
    const guest = (of: Source) => ({ __typename: 'Guest', id: `guest of ${placeOf(of)}`, seat: of });
    switch (`${type}.${field}`) {
      case 'Query.seats':
        return [
          [seat('A', 1, 'left'), null, seat('A', 1, 'right')],
          [seat('B', 1, 'left'), seat('A', 1, 'left')],
          null,
        ];
      case 'Query.hall':
        return hall('A');
      case 'Hall.seats':
        return [seat(source.name, 1, 'left'), seat(source.name, 2, 'left')];
      case 'Query.guest':
        return guest(seat('B', 2, 'right'));
      case 'Seat.guest':
        return numberOf(placeOf(source), 2) === 0 ? null : guest(source);
      case 'Hall.rating':
      case 'Hall.owner':
        return field === 'owner' ? `owner of ${String(source.name)}` : numberOf(String(source.name)) / 4;
      case 'Seat.price':
        return numberOf(placeOf(source));
      case 'Seat.isTaken':
        return numberOf(placeOf(source), 2) === 1;
      case 'Guest.nick':
        return `of ${placeOf(source.seat as Source)}`;
      case 'Guest.bill':
        return numberOf(placeOf(source.seat as Source));
      case 'Guest.id':
        return source.id ?? `guest of ${placeOf(source.seat as Source)}`;
      default:
        return source[field];
    }
  },
};

it.each([0, 9])(
  'random operations over nested keys have what graphql-js has over one schema, where one value in so many fails: %i',
  async (failing) => {
    const { subgraphs, fixed } = nestedKeys;
    const world = createWorld(subgraphs, { seed: 5, failing, ...(fixed && { fixed }) });
    let ofSeveralServices = 0;
    for (let seed = 0; seed < 150; seed++) {
      const { source, variables } = randomOperation(world.graph.schema, createDice(seed), 'query', {
        argumentsOf: fittingArguments,
      });
      const { ours, theirs, calls } = await runBothWays(world, source, variables);
      expect({ source, variables, ...ours }).toEqual({ source, variables, ...theirs });
      if (new Set(calls.map(({ service }) => service)).size > 1) ofSeveralServices++;
    }
    expect(ofSeveralServices).toBeGreaterThan(20);
  },
);
