"""Asks one question: python3 solve.py HOST:PORT PUZZLE RECORD"""
import json
import socket
import sys


def solve(address, puzzle, record):
    """Returns the answer, a dict; record is text, or a dict as a line of jsonl."""
    if not isinstance(record, str):
        record = json.dumps(record)
    host, port = address.rsplit(":", 1)
    payload = record.encode()
    with socket.create_connection((host, int(port)), timeout=40) as connection:
        server = connection.makefile("rwb")
        server.readline()  # INFO, what the server can do
        server.write(b'CONNECT {"verbose":false,"headers":true,"no_responders":true}\r\nSUB _INBOX.submit.public.me 1\r\n')
        server.write(b"PUB antipode.v1.solve.%s _INBOX.submit.public.me %d\r\n%s\r\n" % (puzzle.encode(), len(payload), payload))
        server.flush()
        while line := server.readline():
            words = line.split()
            if words[0] == b"PING":
                server.write(b"PONG\r\n")
                server.flush()
            elif words[0] == b"MSG":  # MSG subject 1 bytes
                return json.loads(server.read(int(words[-1])))
            elif words[0] == b"HMSG":  # HMSG subject 1 bytes-of-headers bytes: no answer, but why
                raise RuntimeError(server.read(int(words[-2])).decode().strip())
            elif words[0] == b"-ERR":
                raise RuntimeError(line.decode().strip())
    raise RuntimeError("the server closed the connection")


if __name__ == "__main__":
    print(json.dumps(solve(*sys.argv[1:])))
