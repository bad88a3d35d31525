"""Prints each change as the Supabase client for Python delivers it, unmodified: python3 channel.py"""

import asyncio
import os
import random
import sys

import httpx
from realtime import AsyncRealtimeClient, RealtimeSubscribeStates

URL = os.environ.get("TASKMESH_URL", "http://127.0.0.1:4000")
TOKEN = os.environ.get("TASKMESH_TOKEN", "")
TASKS = "{ tasks(first: 100) { edges { node { title } } } }"
# What passes: the list is read again, after a pause. After any other code it is of no use to come back.
PASSING = {"SERVICE_UNAVAILABLE", "RATE_LIMITED", "INTERNAL_SERVER_ERROR"}


def show_change(change: dict) -> None:
    data = change["data"]
    row = data["old_record"] if data["type"] == "DELETE" else data["record"]
    print(data["type"].value, row["title"], flush=True)


async def show_tasks() -> None:
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}) as http:
        while (tasks := await read_tasks(http)) is None:
            await asyncio.sleep(random.uniform(1, 2))
    for edge in tasks["edges"]:
        print("-", edge["node"]["title"], flush=True)


async def read_tasks(http: httpx.AsyncClient) -> dict | None:
    """Returns None when the network or the server is away, which passes."""
    try:
        response = await http.post(f"{URL}/graphql", json={"query": TASKS})
        if response.status_code != 200:
            raise ValueError(f"The list failed with {response.status_code}.")
        result = response.json()
    except (httpx.HTTPError, ValueError) as error:
        print(str(error) or type(error).__name__, file=sys.stderr)  # time-outs of httpx say nothing
        return None
    if "errors" not in result:
        return result["data"]["tasks"]
    code = result["errors"][0]["extensions"]["code"]
    if code not in PASSING:
        sys.exit(code)
    return None


async def main() -> None:
    # It comes back by itself, after at most a minute, but not for ever.
    client = AsyncRealtimeClient(f"{URL}/realtime/v1", "public-key", max_retries=1_000)
    await client.set_auth(TOKEN)
    states: asyncio.Queue = asyncio.Queue()
    channel = client.channel("tasks").on_postgres_changes("*", show_change, table="tasks", schema="public")
    await channel.subscribe(lambda state, error: states.put_nowait((state, error)))
    while True:
        state, error = await states.get()
        if state == RealtimeSubscribeStates.SUBSCRIBED:
            print("live", flush=True)
            # This client drops the cursors that the channel sends: what changed while it was away is in the list. Read
            # after the join, so that nothing falls between the two.
            await show_tasks()
        elif "session has ended" in str(error) or "token" in str(error):
            await client.close()
            sys.exit("UNAUTHENTICATED")
        else:
            print("reconnecting", flush=True)


if __name__ == "__main__":
    if not TOKEN:
        sys.exit("TASKMESH_TOKEN must be an access token or a personal token.")
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        pass
