"""Rules and ranking over whole columns (polars, extra `bulk`): the results of the row evaluator, for files of any size."""
