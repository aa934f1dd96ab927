-- name: seen
-- What visits saw of pages, oldest first, some at a time.
SELECT v.digest, v.id, k.url, k.relevance, k.kind, v.at, v.content
FROM visit v JOIN known k ON k.digest = v.digest
WHERE v.content IS NOT NULL AND (v.digest, v.id) > (?, ?)
ORDER BY v.digest, v.id LIMIT 10000;
