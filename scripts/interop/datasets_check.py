"""Every file of a run and every export loads in Hugging Face datasets, with one schema and all rows."""
import json
import os
import sys
import tempfile

import pandas
from datasets import load_dataset

from report import check, lines, manifest, same

files = manifest()
cache = tempfile.mkdtemp(dir=os.path.dirname(sys.argv[1]))
TEN_MIB = 10 << 20


def load(paths):
    return load_dataset("json", data_files=paths, split="train", cache_dir=cache)


def without_absent(value):
    """Arrow fills a struct with nulls where a row lacks a key."""
    if isinstance(value, dict):
        return {k: without_absent(v) for k, v in value.items() if v is not None}
    if isinstance(value, list):
        return [without_absent(v) for v in value]
    return value


def equal(dataset, rows):
    same(dataset.num_rows, len(rows), "rows")
    for i, row in enumerate(rows):
        given, expected = without_absent(dataset[i]), without_absent(row)
        for key in expected:
            assert given.get(key) == expected[key], f"row {i}, {key}: {str(given.get(key))[:200]} instead of {str(expected[key])[:200]}"


def run_files(run):
    names = [n for n in run["files"] if n.endswith(".jsonl")]
    paths = [os.path.join(run["folder"], n) for n in names]
    schemas = {}

    def each(path, name):
        def work():
            dataset = load(path)
            schemas[name] = dataset.features
            rows = lines(path)
            equal(dataset, rows)
            return f"{len(rows)} rows, {os.path.getsize(path):,} bytes"

        return work

    for path, name in zip(paths, names):
        check(f"{run['name']}: {name} loads with every row as it was written", each(path, name))

    def one_schema():
        first = schemas["trajectories.jsonl"]
        for name, features in schemas.items():
            assert features == first, f"{name} has {str(features)[:400]} instead of {str(first)[:400]}"
        batches = [p for p in paths if os.path.basename(p).startswith("batch_")]
        same(load(batches).num_rows, len(lines(os.path.join(run["folder"], "trajectories.jsonl"))), "rows of all batch files")
        return f"{len(schemas)} files"

    check(f"{run['name']}: all files have one schema and load together", one_schema)

    def late():
        path = os.path.join(run["folder"], "trajectories.jsonl")
        with open(path, "rb") as file:
            head = file.read(TEN_MIB)
            assert len(head) == TEN_MIB, "the file is shorter than 10 MiB"
            tail = file.read()
        assert b"a.txt" not in head and b"a.txt" in tail, "the calls are not after the first 10 MiB"

    check(f"{run['name']}: no tool call in the first 10 MiB, some after them", late)

    def statistics():
        for name in ("statistics.json", "checkpoint.json"):
            with open(os.path.join(run["folder"], name), encoding="utf-8") as file:
                assert isinstance(json.load(file), dict)
        same(load(os.path.join(run["folder"], "statistics.json")).num_rows, 1, "rows")

    check(f"{run['name']}: statistics.json and checkpoint.json", statistics)

    def frames():
        path = os.path.join(run["folder"], "trajectories.jsonl")
        same(len(pandas.read_json(path, lines=True, dtype=False, convert_dates=False)), len(lines(path)), "rows")

    check(f"{run['name']}: pandas reads trajectories.jsonl", frames)


for run in files["runs"]:
    run_files(run)

for export in files["exports"] + [{**t, "name": f"Atropos export with tokens ({t['name']})"} for t in files["tokenized"]]:

    def whole(export=export):
        rows = lines(export["file"])
        dataset = load(export["file"])
        same(dataset.num_rows, len(rows), "rows")
        # scores are floats that a JSON column rounds to ten digits
        for i, row in enumerate(rows):
            given = dataset[i]
            key = "messages" if "messages" in row else "conversations"
            same(without_absent(given[key]), without_absent(row[key]), f"row {i}")
            for a, b in zip(given.get("scores") or [], row.get("scores") or []):
                assert abs(a - b) < 1e-9, f"row {i}: score {a} instead of {b}"
            same(given.get("tokens"), row.get("tokens"), f"tokens of row {i}")
        return f"{len(rows)} rows"

    check(f"{export['name']} loads with every row as it was written", whole)
