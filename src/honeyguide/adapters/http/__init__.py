"""HTTP on aiohttp: the client, connections, address checks, robots.txt."""
