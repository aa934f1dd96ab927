"""A page that tries every way out of a browser, and listeners that see each try: TCP, UDP, and names that are looked up."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

WAYS = """
<!DOCTYPE html><html><head><title>Acme</title>
<link rel="dns-prefetch" href="//prefetched.probe.test">
<link rel="preconnect" href="http://127.0.0.1:%T%">
<link rel="prefetch" href="http://127.0.0.1:%T%/prefetch">
<link rel="preload" as="script" href="http://127.0.0.1:%T%/preload">
<link rel="stylesheet" href="http://127.0.0.1:%T%/style.css">
<link rel="icon" href="http://127.0.0.1:%T%/favicon.ico">
<link rel="manifest" href="http://127.0.0.1:%T%/manifest.json">
<meta http-equiv="refresh" content="2; url=http://127.0.0.1:%T%/refresh">
</head><body>
<div id="root"></div>
<img src="http://127.0.0.1:%T%/image.png"><iframe src="http://127.0.0.1:%T%/frame"></iframe>
<iframe src="http://framed.probe.test/"></iframe>
<video src="http://127.0.0.1:%T%/film.mp4" autoplay></video><object data="http://127.0.0.1:%T%/object"></object>
<form id="form" method="post" action="http://127.0.0.1:%T%/form"><input name="a" value="b"></form>
<a id="link" ping="http://127.0.0.1:%T%/ping" href="http://127.0.0.1:%T%/link">out</a>
<a id="file" download="file.bin" href="http://127.0.0.1:%T%/file.bin">file</a>
<script>
const at = "http://127.0.0.1:%T%", later = (ms, go) => setTimeout(go, ms), tries = [
  () => fetch(at + "/fetch"), () => fetch(at + "/post", {method: "POST", body: "x", mode: "no-cors"}),
  () => fetch(at + "/keepalive", {keepalive: true, mode: "no-cors"}),
  () => fetch("http://127.1:%T%/short"), () => fetch("http://[::ffff:127.0.0.1]:%T%/six"), () => fetch("http://0.0.0.0:%T%/zero"),
  () => { const x = new XMLHttpRequest(); x.open("GET", at + "/xhr"); x.send(); },
  () => navigator.sendBeacon(at + "/beacon", "x"), () => new WebSocket("ws://127.0.0.1:%T%/socket"),
  () => new WebSocketStream("ws://127.0.0.1:%T%/stream"), () => new EventSource(at + "/events"),
  () => new WebTransport("https://127.0.0.1:%U%/transport"),
  () => new SharedWorker("data:text/javascript," + encodeURIComponent(work)),
  () => new SharedWorker("/worker.js"), () => new Worker(URL.createObjectURL(new Blob([work]))),
  () => navigator.serviceWorker.register("/worker.js"),
  () => { const p = new RTCPeerConnection({iceServers: [{urls: "stun:127.0.0.1:%U%"}, {urls: "stun:stunned.probe.test:%U%"}]});
          p.createDataChannel("x"); p.createOffer().then(offer => p.setLocalDescription(offer)); },
  () => { const f = document.createElement("iframe"); document.body.append(f);
          const p = new f.contentWindow.RTCPeerConnection({iceServers: [{urls: "stun:127.0.0.1:%U%"}]});
          p.createDataChannel("x"); p.createOffer().then(offer => p.setLocalDescription(offer)); },
  () => { const s = document.createElement("script"); s.type = "speculationrules";
          s.textContent = JSON.stringify({prerender: [{urls: [at + "/prerender"]}], prefetch: [{urls: [at + "/speculated"]}]});
          document.head.append(s); },
  () => { document.body.style.backgroundImage = "url(" + at + "/background.png)"; },
  () => new FontFace("x", "url(" + at + "/font.woff)").load(), () => new Audio(at + "/sound.mp3").play(),
  () => import(at + "/module.js"), () => { const r = new Request(at + "/cached"); caches.open("x").then(c => c.add(r)); },
  () => new PaymentRequest([{supportedMethods: at + "/pay"}], {total: {label: "x", amount: {currency: "EUR", value: "1"}}}).show(),
  () => new ReportingObserver(() => 0).observe(),
  () => window.open(at + "/popup"), () => history.pushState({}, "", "/pushed"),
  () => later(1500, () => document.getElementById("file").click()), () => later(1600, () => document.getElementById("form").submit()),
  () => later(1700, () => document.getElementById("link").click()), () => later(1800, () => { location.href = at + "/location"; }),
  () => later(1900, () => location.replace("http://moved.probe.test/")),
  () => new WebSocket("ws://socket.probe.test/"), () => fetch("http://fetched.probe.test/"), () => fetch("/redirect"),
];
const work = `const at = "http://127.0.0.1:%T%";
for (const go of [() => fetch(at + "/worker-fetch"), () => importScripts(at + "/worker-import"), () => new WebSocket("ws://127.0.0.1:%T%/w"),
  () => new EventSource(at + "/worker-events"), () => new WebTransport("https://127.0.0.1:%U%/w"), () => new WebSocketStream("ws://127.0.0.1:%T%/w"),
  () => fetch("http://worked.probe.test/")]) { try { Promise.resolve(go()).catch(() => 0); } catch (e) {} }`;
for (const go of tries) { try { Promise.resolve(go()).catch(() => 0); } catch (e) {} }
document.getElementById("root").textContent = "tried " + tries.length;
</script>
<script src="http://127.0.0.1:%T%/script.js"></script>
<script src="http://scripted.probe.test/script.js"></script>
</body></html>
"""


@dataclass
class Listeners:
    """What reached this machine from a browser; `names` is None where no name server can be played here."""

    tcp_port: int
    udp_port: int
    tcp: list[bytes] = field(default_factory=list)
    udp: list[bytes] = field(default_factory=list)
    names: list[bytes] | None = None

    @property
    def page(self) -> str:
        return WAYS.replace("%T%", str(self.tcp_port)).replace("%U%", str(self.udp_port))


@contextmanager
def listening() -> Iterator[Listeners]:
    """Listen on loopback, and on the port of name servers where this machine asks itself for names (tools/check_render.py)."""
    ends = [
        socket.create_server(("127.0.0.1", 0), backlog=64),
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
    ]
    ends[1].bind(("127.0.0.1", 0))
    found = Listeners(ends[0].getsockname()[1], ends[1].getsockname()[1])
    threads = [
        threading.Thread(target=_accept, args=(ends[0], found.tcp)),
        threading.Thread(target=_receive, args=(ends[1], found.udp)),
    ]
    with suppress(OSError):  # the other side has closed it
        if Path("/etc/resolv.conf").read_text("utf-8").strip() == "nameserver 127.0.0.1":
            server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            server.bind(("127.0.0.1", 53))
            ends.append(server)
            found.names = []
            threads.append(threading.Thread(target=_receive, args=(server, found.names)))
    for thread in threads:
        thread.start()
    try:
        yield found
    finally:
        for end in ends:
            with suppress(OSError):  # the other side has closed it
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        for thread in threads:
            thread.join()


def _accept(server: socket.socket, seen: list[bytes]) -> None:
    with suppress(OSError):  # the other side has closed it
        while True:
            connection, _ = server.accept()
            seen.append(b"connected")
            connection.close()


def _receive(server: socket.socket, seen: list[bytes]) -> None:
    with suppress(OSError):  # the other side has closed it
        while data := server.recv(2000):
            seen.append(data)
