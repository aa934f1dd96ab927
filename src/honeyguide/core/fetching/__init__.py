"""How we behave towards servers: the fetch policy, the pace of requests, a site's addresses."""
