import { run, token, url } from '../feeds/taskmesh.mjs';
import { applyChange, CHANGES, codeOf, LIST, show } from './changes.mjs';
import { createSocket } from './socket.mjs';

// An application imports these names from @apollo/client, @apollo/client/link/subscriptions and @apollo/client/utilities.
// Our test runs the example with version 4 and, as a second package, with version 3, whose files Node finds by path only.
const isThird = process.env.APOLLO_VERSION === '3';
const load = async (path, file) =>
  isThird ? (await import(`apollo-client-3/${file}`)).default : import(`@apollo/client${path}`);

const { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } = await load('', 'core/core.cjs');
const { GraphQLWsLink } = await load('/link/subscriptions', 'link/subscriptions/subscriptions.cjs');
const { getMainDefinition } = await load('/utilities', 'utilities/utilities.cjs');

const TASKS = gql(LIST);
const client = new ApolloClient({
  cache: new InMemoryCache(),
  link: ApolloLink.split(
    ({ query }) => getMainDefinition(query).operation === 'subscription',
    new GraphQLWsLink(createSocket()),
    new HttpLink({ uri: `${url}/graphql`, headers: { authorization: `Bearer ${token}` } }),
  ),
});

async function readList() {
  try {
    const { data } = await client.query({ query: TASKS, fetchPolicy: 'network-only' });
    for (const { node } of data.tasks.edges) console.log(`- ${node.title}`);
    return { cursor: data.tasks.changesCursor };
  } catch (error) {
    return { code: codeOf(error) };
  }
}

/** A component does the same with `useQuery` and its `subscribeToMore`. */
const follow = (after) =>
  new Promise((end) => {
    const list = client.watchQuery({ query: TASKS, fetchPolicy: 'cache-only' });
    const shown = list.subscribe(({ data }) => show(data.tasks.edges.map(({ node }) => node)));
    list.subscribeToMore({
      document: gql(CHANGES),
      variables: { after },
      updateQuery({ tasks }, { subscriptionData: { data } }) {
        const nodes = applyChange(
          tasks.edges.map(({ node }) => node),
          data.taskChanges,
        );
        console.log(data.taskChanges.kind, data.taskChanges.task.title);
        return { tasks: { ...tasks, edges: nodes.map((node) => ({ __typename: 'TaskEdge', node })) } };
      },
      onError(error) {
        shown.unsubscribe();
        end(codeOf(error));
      },
    });
  });

await run(follow, readList);
