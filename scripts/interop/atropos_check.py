"""The API server of atroposlib takes every group of an export and hands it back from /batch."""
import contextlib
import http.client
import json
import socket
import subprocess
import sys
import time

from report import check, lines, manifest, same

files = manifest()
FIELDS = ["tokens", "masks", "scores", "advantages", "ref_logprobs", "messages", "generation_params", "inference_logprobs", "overrides",
          "group_overrides", "images", "distill_token_ids", "distill_logprobs"]


@contextlib.contextmanager
def server():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen([sys.executable, "-m", "uvicorn", "atroposlib.api:app", "--host", "127.0.0.1", "--port", str(port), "--log-level", "warning"], stdout=sys.stderr)
    try:
        end = time.monotonic() + 60
        while True:
            try:
                ask(port, "GET", "/")
                break
            except OSError:
                assert process.poll() is None, f"the server ended with {process.returncode}"
                assert time.monotonic() < end, "the server did not start"
                time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        process.wait()


def ask(port, method, path, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, None if body is None else json.dumps(body), {"content-type": "application/json"})
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    assert answer.status == 200, f"{method} {path}: {answer.status} {text[:500]!r}"
    return json.loads(text)


def register(port, groups, size):
    """In this order: a push before the trainer's registration, or a registration before its first poll, leaves the server useless."""
    longest = max(len(t) for g in groups for t in g["tokens"])
    ask(port, "POST", "/register", {"wandb_group": "g", "wandb_project": "p", "batch_size": size * 2, "max_token_len": longest + 1, "checkpoint_dir": "/tmp", "save_checkpoint_interval": 0, "starting_step": 0, "num_steps": 100})
    env = {"max_token_length": longest + 1, "desired_name": "groups", "weight": 1.0, "group_size": size}
    same(ask(port, "POST", "/register-env", env), {"status": "wait for trainer to start"}, "before the first poll")
    same(ask(port, "GET", "/batch"), {"batch": None}, "the first poll")
    return ask(port, "POST", "/register-env", env)["env_id"]


def hand_over(export):
    groups = lines(export["file"])
    size = export["groupSize"]
    assert groups and len(groups) % 2 == 0, f"{len(groups)} groups"
    with server() as port:
        env_id = register(port, groups, size)
        for group in groups:
            same(ask(port, "POST", "/scored_data", {**group, "env_id": env_id}), {"status": "received"}, "a group")
        back = []
        while (batch := ask(port, "GET", "/batch")["batch"]) is not None:
            same(sum(len(g["tokens"]) for g in batch), size * 2, "rollouts in a batch")
            back += batch
        same(ask(port, "GET", "/status")["queue_size"], 0, "left in the queue")
    same(len(back), len(groups), "groups")
    key = lambda g: json.dumps(g["tokens"])
    for given, sent in zip(sorted(back, key=key), sorted(groups, key=key)):
        for field in FIELDS:
            same(given[field], sent[field], field)
        same(given["env_id"], env_id, "env_id")
    return f"{len(groups)} groups of {size}"


def sane(export):
    groups = lines(export["file"])
    spread = 0
    for group in groups:
        same(set(FIELDS) - set(group), set(), "missing keys")
        same(len(group["tokens"]), export["groupSize"], "rollouts")
        same({len(group[k]) for k in ("tokens", "masks", "scores", "messages")}, {export["groupSize"]}, "lengths")
        for tokens, masks in zip(group["tokens"], group["masks"]):
            same(len(tokens), len(masks), "length of a mask")
            assert all(m in (-100, t) for t, m in zip(tokens, masks)), "a mask holds another token"
            assert any(m != -100 for m in masks), "nothing to train on"
        same(group["inference_logprobs"], [], "inference_logprobs")
        spread += len(set(group["scores"])) > 1
    same(spread, len(groups), "groups in which right and wrong answers are scored apart")
    return f"{len(groups)} groups"


for export in files["atropos"]:
    check(f"{export['name']}: every group fits a trainer, right and wrong are scored apart", lambda: sane(export))
    check(f"{export['name']}: the server takes every group and hands it back equal", lambda: hand_over(export))
