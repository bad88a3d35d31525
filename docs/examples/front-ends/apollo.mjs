import { run, token, url } from '../feeds/taskmesh.mjs';
import {
  ApolloClient,
  ApolloLink,
  getMainDefinition,
  gql,
  GraphQLWsLink,
  HttpLink,
  InMemoryCache,
} from './apollo-packages.mjs';
import { applyChange, CHANGES, codeOf, createSocket, LIST, show } from './changes.mjs';

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
