"""What a store keeps in tables, whichever database has them: the SQL is the database's own."""
