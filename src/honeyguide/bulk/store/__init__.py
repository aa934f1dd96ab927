"""The URLs of a store as arrays, ranked without an object for each row."""
