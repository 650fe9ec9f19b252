"""A small served model for tests: it speaks OpenAI's HTTP, makes the tokens of all answers under way step by step, as fast as
the virtual GPUs' clock allows, and writes down what it sent. Run it under `zeus virtual`.

  token_server.py LOG [--port N] [--gpus 0] [--dialect NAME] [--step SECONDS] [--trouble NAME] [--every N] [--lost-at N]

It prints its port. A model that is called like a dialect or a trouble has it, whatever the options say. LOG gets one JSON object a
line: {"answer": ...} for each answer, and {"step": ...} for each step, with the true energy of its GPUs until then.
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import contextlib
import ctypes
import json
import random
import sys
import time

# How the answers of servers differ. `usage`: in a last chunk of its own, in the last one with text's end, in each, or never.
DIALECTS = {
    "usage_last": {"usage": "own", "role": True},
    "usage_with_finish": {"usage": "finish", "role": True},
    "usage_in_each": {"usage": "each"},
    "no_usage": {"usage": "never"},
    "null_usage": {"usage": "own", "null": True, "role": True},
    "crlf_and_comments": {"usage": "own", "end": "\r\n", "comments": True},
    "named_events": {"usage": "own", "named": True},
    "two_tokens_a_chunk": {"usage": "own", "tokens": 2},
    "reasoning": {"usage": "own", "reasoning": True},
    "without_done": {"usage": "finish", "done": False},
    "one_write": {"usage": "own", "pieces": False},
    "markup": {"usage": "own", "text": "<b id='bold'>{}</b> "},
}
TROUBLES = ("429", "500", "cut", "half_json", "error_event", "error_200", "silent", "redirect", "endless", "not_http")


class Truth(ctypes.Structure):
    _fields_ = [(name, ctypes.c_double) for name in "time energy power work speed clock temperature".split()]


class Gpus:
    """The virtual GPUs that the model runs on; without a driver, none."""

    def __init__(self, numbers: list[int]) -> None:
        self.numbers = numbers
        self.driver = None
        with contextlib.suppress(OSError):
            self.driver = ctypes.CDLL("libnvidia-ml.so.1")
        self.load("work:0,0,0")

    def load(self, text: str) -> None:
        for number in self.numbers if self.driver else []:
            assert self.driver.zeus_virtual_submit_load(number, text.encode()) == 0

    def lose(self) -> None:
        assert self.driver.zeus_virtual_add_fault(b"lost") == 0

    def truth(self) -> tuple[float, float, float]:
        """The time, the energy of all and the lowest speed."""
        if not self.driver:
            return time.monotonic(), 0.0, 1.0
        energy, speed, now = 0.0, 1.0, 0.0
        for number in self.numbers:
            truth = Truth()
            assert self.driver.zeus_virtual_read_truth(number, ctypes.byref(truth)) == 0
            energy, speed, now = energy + truth.energy, min(speed, truth.speed or 1.0), truth.time
        return now, energy, speed


class Answer:
    def __init__(self, server: Server, writer: asyncio.StreamWriter, asked: dict, chat: bool, trouble: str) -> None:
        self.server, self.writer, self.chat, self.trouble = server, writer, chat, trouble
        self.kind = DIALECTS.get(asked["model"], server.dialect)
        self.wanted = asked["max_tokens"]
        text = asked.get("prompt") or " ".join(message["content"] for message in asked["messages"])
        self.prompt_tokens = len(text.split())
        self.sent = 0
        self.reasoning = 0
        self.times: list[float] = []
        self.over = asyncio.Event()
        self.held: list[bytes] = []

    def usage(self) -> dict:
        usage = {"prompt_tokens": self.prompt_tokens, "completion_tokens": self.sent,
                 "total_tokens": self.prompt_tokens + self.sent}
        if self.kind.get("reasoning"):
            usage["completion_tokens_details"] = {"reasoning_tokens": self.reasoning}
        return usage

    def event(self, choices: list, usage: dict | None = None) -> bytes:
        body = {"id": "a", "object": "chunk", "model": "tiny", "choices": choices}
        if usage is not None:
            body["usage"] = usage
        elif self.kind.get("null"):
            body["usage"] = None
        end = self.kind.get("end", "\n")
        name = f"event: chunk{end}" if self.kind.get("named") else ""
        comment = f": still here{end}{end}" if self.kind.get("comments") else ""
        return f"{comment}{name}data: {json.dumps(body)}{end}{end}".encode()

    def choice(self, text: str | None, finish: str | None = None, key: str = "content") -> dict:
        said = {"text": text or ""} if not self.chat else {"delta": {} if text is None else {key: text}}
        return {"index": 0, **said, "finish_reason": finish}

    def write(self, data: bytes) -> None:
        if self.kind.get("pieces", True):
            self.writer.write(b"%x\r\n%s\r\n" % (len(data), data))
        else:
            self.held.append(data)

    def begin(self) -> None:
        self.writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        if self.chat and self.kind.get("role"):
            self.write(self.event([{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}]))

    def make_token(self) -> None:
        """One token; it is sent with the next ones if the dialect puts several into a chunk."""
        self.sent += 1
        is_last = self.sent >= self.wanted and self.trouble != "endless"
        if self.sent % self.kind.get("tokens", 1) == 0 or is_last:
            thinks = bool(self.kind.get("reasoning")) and self.sent <= self.wanted // 3
            self.reasoning += thinks
            key = "reasoning_content" if thinks else "content"
            self.write(self.event([self.choice(self.kind.get("text", "é{} ").format(self.sent), key=key)],
                                  self.usage() if self.kind["usage"] == "each" else None))
            self.times.append(time.monotonic())
        if self.sent == self.wanted // 2 and self.trouble in ("cut", "half_json", "error_event"):
            self.break_off()
        elif is_last:
            self.end()

    def break_off(self) -> None:
        if self.trouble == "half_json":
            self.write(b'data: {"choices":[{"del\n\n')
        elif self.trouble == "error_event":
            self.write(b'data: {"error":{"message":"the engine is dead","code":500}}\n\n')
        self.writer.transport.abort() if self.trouble == "cut" else None
        self.over.set()

    def end(self) -> None:
        usage = self.kind["usage"]
        self.write(self.event([self.choice(None, "length")], self.usage() if usage in ("finish", "each") else None))
        if usage == "own":
            self.write(self.event([], self.usage()))
        if self.kind.get("done", True):
            self.write(b"data: [DONE]" + self.kind.get("end", "\n").encode() * 2)
        data = b"".join(self.held)
        if data:
            self.writer.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.writer.write(b"0\r\n\r\n")
        self.over.set()


class Server:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.dialect = DIALECTS[options.dialect]
        self.gpus = Gpus(options.gpus)
        self.log = open(options.log, "w", encoding="utf-8", buffering=1 << 16)
        self.waiting: list[Answer] = []
        self.running: list[Answer] = []
        self.wake = asyncio.Event()
        self.requests: collections.Counter[str] = collections.Counter()
        self.tokens = 0

    def note(self, what: dict) -> None:
        self.log.write(json.dumps(what) + "\n")

    async def engine(self) -> None:
        loaded = 0
        while True:
            self.running = [one for one in self.running if not one.over.is_set()]
            while self.waiting and len(self.running) < 64:
                self.running.append(self.waiting.pop(0))
            if loaded != len(self.running):
                loaded = len(self.running)
                self.gpus.load(f"work:1,{min(1.0, 0.3 + 0.02 * loaded)},0.6" if loaded else "work:0,0,0")
            if not self.running:
                self.wake.clear()
                self.log.flush()
                await self.wake.wait()
                continue
            _, _, speed = self.gpus.truth()
            await asyncio.sleep((self.options.step + 0.0005 * loaded) * random.uniform(0.9, 1.1) / speed)
            for one in self.running:
                one.make_token()
            self.tokens += loaded
            now, energy, _ = self.gpus.truth()
            self.note({"step": {"time": now, "energy": energy, "tokens": self.tokens}})

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, OSError):
            await self.answer(reader, writer)
        with contextlib.suppress(Exception):
            await writer.drain()
            writer.close()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        method, path, _ = head.split(" ", 2)
        length = next((int(line.split(":")[1]) for line in head.split("\r\n") if line.lower().startswith("content-length:")), 0)
        body = await reader.readexactly(length)
        if path == "/v1/models":
            return self.plain(writer, 200, {"object": "list", "data": [{"id": "tiny", "owned_by": self.options.owner}]})
        if method != "POST" or path not in ("/v1/chat/completions", "/v1/completions"):
            return self.plain(writer, 404, {"error": {"message": "no such path"}})
        asked = json.loads(body)
        model = asked["model"]
        self.requests[model] += 1
        if self.requests[model] == self.options.lost_at:
            self.gpus.lose()
        trouble = model if model in TROUBLES else self.options.trouble
        if self.requests[model] % self.options.every:
            trouble = ""
        if trouble and await self.refuse(writer, trouble):
            return None
        one = Answer(self, writer, asked, path.endswith("chat/completions"), trouble)
        one.begin()
        self.waiting.append(one)
        self.wake.set()
        gone = asyncio.ensure_future(reader.read(1))
        done = asyncio.ensure_future(one.over.wait())
        await asyncio.wait({gone, done}, return_when=asyncio.FIRST_COMPLETED)
        is_cut = not one.over.is_set()
        one.over.set()
        self.note({"answer": {"output_tokens": one.sent, "prompt_tokens": one.prompt_tokens, "first": one.times[:1],
                              "whole": not is_cut and not one.trouble, "asked": {key: asked.get(key) for key in
                              ("max_tokens", "seed", "stream", "stream_options", "ignore_eos", "model")}}})
        self.log.flush()
        done.cancel()
        gone.cancel()
        return None

    def plain(self, writer: asyncio.StreamWriter, status: int, body: dict, *headers: str) -> None:
        data = json.dumps(body).encode()
        lines = [f"HTTP/1.1 {status} Status", "Content-Type: application/json", f"Content-Length: {len(data)}", *headers]
        writer.write("\r\n".join([*lines, "", ""]).encode() + data)

    async def refuse(self, writer: asyncio.StreamWriter, trouble: str) -> bool:
        if trouble in ("429", "500"):
            self.plain(writer, int(trouble), {"error": {"message": "too busy"}}, "Retry-After: 1")
        elif trouble == "error_200":
            self.plain(writer, 200, {"error": {"message": "out of memory"}})
        elif trouble == "redirect":
            self.plain(writer, 307, {}, "Location: /v1/chat/completions")
        elif trouble == "not_http":
            writer.write(b"\x15\x03\x01 this is not HTTP\r\n\r\n")
        elif trouble == "silent":
            await asyncio.sleep(3600)
        else:
            return False
        return True


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("log")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--gpus", type=lambda text: [int(one) for one in text.split(",")], default=[0])
    parser.add_argument("--dialect", choices=DIALECTS, default="usage_last")
    parser.add_argument("--step", type=float, default=0.01)
    parser.add_argument("--owner", default="test")
    parser.add_argument("--trouble", choices=("", *TROUBLES), default="")
    parser.add_argument("--every", type=int, default=5)
    parser.add_argument("--lost-at", type=int, help="the request at which the GPUs are lost")
    server = Server(parser.parse_args())
    listener = await asyncio.start_server(server.serve, "127.0.0.1", server.options.port)
    print(listener.sockets[0].getsockname()[1], flush=True)
    await server.engine()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        asyncio.run(main())
    sys.exit(0)
