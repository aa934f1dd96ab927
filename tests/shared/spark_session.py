"""Spark on this machine alone, started once for all tests."""

from __future__ import annotations

import atexit
import os
import sys
from functools import cache
from typing import Any

import pytest


@cache
def session() -> Any:
    """Give a session, or skip."""
    sql = pytest.importorskip("pyspark.sql", reason="Spark is no part of [dev]: tools/check_spark.py runs it")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    made = (
        sql.SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "3g")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "4")
        .getOrCreate()
    )
    atexit.register(made.stop)
    return made
