"""The calls that people guess: `honeyguide.pick`, `honeyguide.crawl`, and `Focus` for crawlers that have their own queue.

`calls` visits sites, `pages` is what it gives, `focus` judges links and chooses the next page without a request.
"""
