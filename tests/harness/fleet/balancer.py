"""A program: a load balancer before an HTTPS server. It passes bytes on, or it refuses every request itself.

  balancer.py PORT SERVER_PORT CERTIFICATE KEY RECORD

Each line of stdin is what to do from now on: `pass`, or a status to refuse with. Every connection is cut at that moment, and the line is
printed. RECORD gets a line of JSON for each request that is refused: time, bearer token, method, target.
"""

import asyncio
import json
import ssl
import sys
import time

PASS = "pass"


class Balancer:
    def __init__(self, server_port, certificate, key, record):
        self.server_port, self.record = server_port, record
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(certificate, key)
        self.mode = PASS
        self.tasks = set()

    async def accept(self, reader, writer):
        task = asyncio.current_task()
        self.tasks.add(task)
        try:
            await (self.relay(reader, writer) if self.mode == PASS else self.refuse(reader, writer))
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self.tasks.discard(task)
            writer.close()

    async def relay(self, reader, writer):
        theirs, ours = await asyncio.open_connection("127.0.0.1", self.server_port)
        both = [asyncio.ensure_future(self.pour(reader, ours)), asyncio.ensure_future(self.pour(theirs, writer))]
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in both:
                one.cancel()
            ours.close()

    @staticmethod
    async def pour(source, target):
        while data := await source.read(65536):
            target.write(data)
            await target.drain()

    async def refuse(self, reader, writer):
        status = int(self.mode)
        body = json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": status,
                           "reason": {403: "Forbidden"}.get(status, "ServiceUnavailable"), "message": "refused by the bench"})
        answer = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
        await writer.start_tls(self.tls)
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
            await reader.readexactly(int(fields.get("content-length", 0)))
            method, target = head[0].split(" ")[:2]
            token = fields.get("authorization", "").removeprefix("Bearer ")
            self.record.write(json.dumps([time.time(), token, method, target]) + "\n")
            self.record.flush()
            writer.write(answer)
            await writer.drain()

    def switch(self, mode):
        self.mode = mode
        for task in self.tasks:
            task.cancel()
        print(mode, flush=True)


async def main(port, server_port, certificate, key, path):
    with open(path, "w", encoding="utf-8") as record:
        balancer = Balancer(int(server_port), certificate, key, record)
        server = await asyncio.start_server(balancer.accept, "127.0.0.1", int(port), backlog=4096)
        orders = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
        balancer.switch(PASS)
        while line := await orders.readline():
            balancer.switch(line.decode().strip())
        server.close()


asyncio.run(main(*sys.argv[1:]))
