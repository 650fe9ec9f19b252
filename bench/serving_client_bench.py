"""What `zeus llm bench` itself costs beside a client on aiohttp, in one run: processor time for each streamed answer. A small
server answers as fast as it can, so that the clients are what is measured.

  serving_client_bench.py BUILD
  serving_client_bench.py --client URL MODEL     run by the first form in an environment with aiohttp
  serving_client_bench.py --server               likewise: the server; prints its port
  serving_client_bench.py --rounds BUILD PYTHON  likewise: both clients in turn, on a virtual GPU
"""

import asyncio
import json
import pathlib
import resource
import statistics
import subprocess
import sys
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
REQUESTS, IN_FLIGHT, TOKENS, ROUNDS = 200, 8, 128, 5
MODELS = {"whole": "an answer that comes at once", "pieces": "an answer in 128 pieces"}


async def serve() -> None:
    events = [b"data: " + json.dumps({"choices": [{"index": 0, "delta": {"content": f"token{i} "}, "finish_reason": None}]}).encode()
              + b"\n\n" for i in range(TOKENS)]
    events.append(b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}\n\n')
    events.append(b'data: ' + json.dumps({"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": TOKENS}}).encode() + b"\n\n")
    events.append(b"data: [DONE]\n\n")
    chunks = [b"%x\r\n%s\r\n" % (len(event), event) for event in events] + [b"0\r\n\r\n"]
    body = b"".join(chunks)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    models = json.dumps({"data": [{"id": model} for model in MODELS]}).encode()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                asked = await reader.readuntil(b"\r\n\r\n")
                length = next((int(line.split(b":")[1]) for line in asked.split(b"\r\n") if line.lower().startswith(b"content-length")), 0)
                said = await reader.readexactly(length)
                if asked.startswith(b"GET"):
                    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(models), models))
                elif b'"pieces"' in said:
                    writer.write(head)
                    for chunk in chunks:
                        writer.write(chunk)
                        await asyncio.sleep(0)
                else:
                    writer.write(head + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    listener = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(listener.sockets[0].getsockname()[1], flush=True)
    await listener.serve_forever()


async def ask(url: str, model: str) -> None:
    """The same requests by aiohttp: each chunk's time is taken and its JSON read, as such benchmarks do."""
    import aiohttp
    left = iter(range(REQUESTS))
    whole = 0

    async def work(session: aiohttp.ClientSession) -> None:
        nonlocal whole
        for number in left:
            body = {"model": model, "messages": [{"role": "user", "content": "word " * 100}], "max_tokens": TOKENS, "seed": number,
                    "stream": True, "stream_options": {"include_usage": True}}
            arrivals, usage = [], None
            async with session.post(f"{url}/v1/chat/completions", json=body) as answer:
                async for line in answer.content:
                    if line.startswith(b"data: ") and not line.startswith(b"data: [DONE]"):
                        event = json.loads(line[6:])
                        if event["choices"] and event["choices"][0]["delta"].get("content"):
                            arrivals.append(time.perf_counter())
                        usage = event.get("usage") or usage
            assert usage["completion_tokens"] == len(arrivals) == TOKENS
            whole += 1

    began = time.process_time()
    async with aiohttp.ClientSession() as session:
        await asyncio.gather(*(work(session) for _ in range(IN_FLIGHT)))
    assert whole == REQUESTS
    print(time.process_time() - began)


def ours(program: pathlib.Path, url: str, model: str, requests: int) -> float:
    """Processor seconds of the whole command with so many requests."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([program, "llm", "bench", "--url", url, "--model", model, "--gpus", "0", "--requests", str(requests), "--in-flight", str(IN_FLIGHT),
                           "--max-tokens", str(TOKENS), "--json", "-"], capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert json.loads(done.stdout)["answers"]["output_tokens"] == requests * TOKENS, done.stdout + done.stderr
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def rounds(build: pathlib.Path, python: str) -> None:
    program = build / "bin" / "zeus"
    server = subprocess.Popen([sys.executable, __file__, "--server"], stdout=subprocess.PIPE, text=True)
    try:
        url = f"http://127.0.0.1:{server.stdout.readline().strip()}"
        for model, name in MODELS.items():
            mine, others = [], []
            for _ in range(ROUNDS):
                mine.append(ours(program, url, model, REQUESTS) - ours(program, url, model, 1))
                done = subprocess.run([python, __file__, "--client", url, model], capture_output=True, text=True, check=True)
                others.append(float(done.stdout))
            ratios = sorted(a / b for a, b in zip(mine, others))
            per_answer = [1e3 * statistics.median(times) / REQUESTS for times in (mine, others)]
            print(f"  {'processor time of ' + name:<44}{per_answer[0]:>7.3f} ms{per_answer[1]:>11.3f} ms"
                  f"{statistics.median(ratios):>9.3g}   ({ratios[0]:.3g} to {ratios[-1]:.3g} in {ROUNDS} rounds)", flush=True)
    finally:
        server.kill()
        server.wait()


def main() -> int:
    build = pathlib.Path(sys.argv[1]).resolve()
    sys.path.insert(0, str(ROOT / "tests" / "support"))
    import python_environment
    try:
        python = python_environment.interpreter(build, "yardsticks")
    except unittest.SkipTest as skipped:
        print(f"  {skipped}")
        return 0
    print(f"  {'':<44}{'ours':>10}{'aiohttp':>14}{'ratio':>9}")
    return subprocess.run([build / "bin" / "zeus", "virtual", "1xA100", "--", sys.executable, __file__, "--rounds", str(build), str(python)],
                          check=False).returncode


if __name__ == "__main__":
    if sys.argv[1] == "--server":
        asyncio.run(serve())
    elif sys.argv[1] == "--client":
        asyncio.run(ask(sys.argv[2], sys.argv[3]))
    elif sys.argv[1] == "--rounds":
        rounds(pathlib.Path(sys.argv[2]), sys.argv[3])
    else:
        sys.exit(main())
