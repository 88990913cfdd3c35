"""Clients of a server under a flood: true ones, whose answers are counted, and those that keep connections."""

import os
import random
import resource
import selectors
import socket
import struct
import threading
import time

from . import servers


def message(name):
    labels = b"".join(bytes([len(part)]) + part.encode() for part in [name, *servers.ZONE.split(".")])
    return os.urandom(2) + b"\1\0\0\1\0\0\0\0\0\0" + labels + b"\0\0\1\0\1"


def is_answer(query, reply):
    return reply[:2] == query[:2] and reply[2] & 0x80 and reply[3] & 15 == 0 and reply[7] > 0


class Udp(threading.Thread):
    """Asks for a service every few milliseconds from an address of its own. What is not answered within a second is asked
    again, twice at most, as resolvers do."""

    def __init__(self, port, address="127.0.0.2", pause=0.015):
        super().__init__(daemon=True)
        self.server, self.pause, self.done = ("127.0.0.1", port), pause, threading.Event()
        self.sockets = []
        for _ in range(8):
            one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            one.bind((address, 0))
            one.setblocking(False)
            self.sockets.append(one)
        self.asked, self.first, self.later, self.times = 0, 0, 0, []

    def run(self):
        open_queries, following = {}, time.monotonic()
        while not self.done.is_set() or open_queries:
            now = time.monotonic()
            if now >= following and not self.done.is_set():
                following = max(following + self.pause, now - 0.1)
                query = message(random.choice(servers.NAMES))
                open_queries[query[:2]] = [query, now, now, 1]
                self.asked += 1
                self.send(query)
            for key, entry in list(open_queries.items()):
                if now - entry[2] < 1:
                    continue
                if entry[3] == 3:
                    del open_queries[key]
                else:
                    entry[2], entry[3] = now, entry[3] + 1
                    self.send(entry[0])
            for one in self.sockets:
                try:
                    reply = one.recv(2048)
                except OSError:
                    continue
                entry = open_queries.get(reply[:2])
                if entry and is_answer(entry[0], reply):
                    del open_queries[reply[:2]]
                    self.first += entry[3] == 1
                    self.later += 1
                    self.times.append(time.monotonic() - entry[1])
            time.sleep(0.0005)

    def send(self, query):
        try:
            random.choice(self.sockets).sendto(query, self.server)
        except OSError:
            pass

    def finish(self):
        self.done.set()
        self.join()
        for one in self.sockets:
            one.close()


class Tcp(threading.Thread):
    """Asks over a connection of its own each time."""

    def __init__(self, port, address="127.0.0.2", pause=0.02):
        super().__init__(daemon=True)
        self.server, self.address, self.pause, self.done = ("127.0.0.1", port), address, pause, threading.Event()
        self.asked, self.first, self.later, self.times = 0, 0, 0, []

    def run(self):
        while not self.done.is_set():
            began = time.monotonic()
            self.asked += 1
            for attempt in range(3):
                if self.ask():
                    self.first += attempt == 0
                    self.later += 1
                    self.times.append(time.monotonic() - began)
                    break
            time.sleep(self.pause)

    def ask(self):
        query = message(random.choice(servers.NAMES))
        try:
            with socket.create_connection(self.server, timeout=2, source_address=(self.address, 0)) as stream:
                stream.sendall(struct.pack("!H", len(query)) + query)
                reply = b""
                while len(reply) < 14:
                    part = stream.recv(2048)
                    if not part:
                        return False
                    reply += part
                return is_answer(query, reply[2:])
        except OSError:
            return False

    def finish(self):
        self.done.set()
        self.join()


class Crowd(threading.Thread):
    """Keeps as many connections open as it gets, from many addresses; each that is closed is replaced. `drip`: sends an
    octet of a query that never ends on each of them every second."""

    def __init__(self, port, addresses, wanted, drip):
        super().__init__(daemon=True)
        self.server, self.addresses, self.wanted, self.drip = ("127.0.0.1", port), addresses, wanted, drip
        self.done, self.made = threading.Event(), 0
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))

    def run(self):
        waiting = selectors.DefaultSelector()
        opened, dripped = set(), time.monotonic()
        while not self.done.is_set():
            for _ in range(min(64, self.wanted - len(opened))):
                one = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
                one.setblocking(False)
                one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                try:
                    one.bind((random.choice(self.addresses), 0))
                    one.connect(self.server)
                except BlockingIOError:
                    pass
                except OSError:
                    one.close()
                    continue
                self.made += 1
                opened.add(one)
                waiting.register(one, selectors.EVENT_READ)
            for key, _ in waiting.select(timeout=0.001):
                one = key.fileobj
                try:
                    if one.recv(2048):
                        continue
                except BlockingIOError:
                    continue
                except OSError:
                    pass
                waiting.unregister(one)
                opened.discard(one)
                one.close()
            if self.drip and time.monotonic() - dripped > 1:
                dripped = time.monotonic()
                for one in opened:
                    try:
                        one.send(b"\0")
                    except OSError:
                        pass
        for one in opened:
            one.close()

    def finish(self):
        self.done.set()
        self.join()
