"""Prints the tasks of an account, then each change as it comes. Needs nothing but Python: python3 live.py"""

import json
import os
import random
import sys
import time
from http.client import HTTPException, HTTPResponse
from typing import Iterator
from urllib.error import HTTPError
from urllib.request import Request, urlopen

URL = os.environ.get("TASKMESH_URL", "http://127.0.0.1:4000")
TOKEN = os.environ.get("TASKMESH_TOKEN", "")
TASKS = "{ tasks(first: 100) { changesCursor edges { node { title } } } }"
CHANGES = "subscription { taskChanges { kind task { id title completed version } } }"
# The server says something every twelve seconds.
SILENCE_S = 30
# What passes: the list is read again, after a pause. After any other code it is of no use to come back.
PASSING = {"CURSOR_EXPIRED", "SERVICE_UNAVAILABLE", "RATE_LIMITED", "INTERNAL_SERVER_ERROR"}


class Ended(Exception):
    """Carries the code of an error that a new connection does not mend."""

    @classmethod
    def by(cls, result: dict) -> "Ended":
        return cls(result["errors"][0]["extensions"]["code"])


def ask(query: str, **headers: str) -> HTTPResponse:
    headers |= {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"}
    body = json.dumps({"query": query}).encode()
    return urlopen(Request(f"{URL}/graphql", body, headers), timeout=SILENCE_S)


def show_tasks() -> str:
    """Returns the cursor behind which the changes of the printed list begin: together they miss nothing."""
    with ask(TASKS) as response:
        result = json.load(response)
    if "errors" in result:
        raise Ended.by(result)
    tasks = result["data"]["tasks"]
    for edge in tasks["edges"]:
        print("-", edge["node"]["title"], flush=True)
    return tasks["changesCursor"]


def read_events(response: HTTPResponse) -> Iterator[dict[str, str]]:
    event: dict[str, str] = {}
    for line in response:
        if text := line.decode().rstrip("\r\n"):
            name, _, value = text.partition(":")
            event[name] = value.removeprefix(" ")
        else:
            yield event
            event = {}


def follow(cursor: str) -> Iterator[str]:
    """Prints the changes behind a cursor while the connection lasts, and yields the cursor of each."""
    with ask(CHANGES, **{"Accept": "text/event-stream", "Last-Event-ID": cursor}) as response:
        print("live", flush=True)
        for event in read_events(response):
            if event.get("event") != "next":
                continue
            result = json.loads(event["data"])
            if "errors" in result:
                raise Ended.by(result)
            change = result["data"]["taskChanges"]
            print(change["kind"], change["task"]["title"], flush=True)
            yield event["id"]


def main() -> None:
    cursor = None
    failures = 0
    while True:
        try:
            if cursor is None:
                cursor = show_tasks()
            for cursor in follow(cursor):
                failures = 0
        except Ended as end:
            if str(end) not in PASSING:
                raise
            # The tasks were restored, or we were away for longer than changes are kept.
            cursor = None
        except HTTPError as error:
            if error.code == 401:
                raise Ended("UNAUTHENTICATED") from None
            print(error, file=sys.stderr)
        except (OSError, HTTPException, ValueError) as error:
            print(error, file=sys.stderr)  # cut, silent for too long, or an answer of something in between
        print("reconnecting", flush=True)
        # Grows with each failure and differs from client to client, so that not all come back at once.
        time.sleep(min(10, 0.25 * 2 ** min(failures, 6)) * random.uniform(0.5, 1))
        failures += 1


if __name__ == "__main__":
    if not TOKEN:
        sys.exit("TASKMESH_TOKEN must be an access token or a personal token.")
    try:
        main()
    except Ended as end:
        sys.exit(str(end))
    except KeyboardInterrupt:
        pass
