"""Tokens and masks are those that Python makes of the same messages."""
import json
import os
import subprocess
import sys

from atroposlib.utils.tokenize_for_trainer import tokenize_for_trainer
from transformers import AutoTokenizer

from report import check, lines, manifest, same

files = manifest()


class AsAtroposCallsIt:
    """atroposlib calls templates without tools, and expects a list, which transformers 5 gives only when asked."""

    def __init__(self, tokenizer, tools):
        self.tokenizer, self.tools = tokenizer, tools
        self.eos_token_id = tokenizer.eos_token_id

    def apply_chat_template(self, chat, **options):
        return self.tokenizer.apply_chat_template(chat, tools=self.tools or None, return_dict=False, **options)


def for_template(message):
    message = {k: v for k, v in message.items() if k != "reasoning_content" or v}
    if "tool_calls" in message:
        message["tool_calls"] = [{**c, "function": {**c["function"], "arguments": json.loads(c["function"]["arguments"])}} for c in message["tool_calls"]]
    return message


def rollouts(path):
    for group in lines(path):
        for i, messages in enumerate(group["messages"]):
            yield {
                "id": group["trajectory_ids"][i],
                "messages": [for_template(m) for m in messages],
                "tools": json.loads(group["tools"][i]),
                "tokens": group["tokens"][i] if "tokens" in group else None,
                "masks": group["masks"][i] if "masks" in group else None,
                "finish_reason": group["finish_reason"][i],
            }


def by_atropos(tokenizer, r):
    made = tokenize_for_trainer(AsAtroposCallsIt(tokenizer, r["tools"]), r["messages"], train_on_all_assistant_turns=True, finish_reason=r["finish_reason"])
    return made["tokens"], made["masks"]


def by_markers(tokenizer, r):
    made = tokenizer.apply_chat_template(r["messages"], tools=r["tools"] or None, tokenize=True, return_dict=True, return_assistant_tokens_mask=True)
    return made["input_ids"], [t if m else -100 for t, m in zip(made["input_ids"], made["assistant_masks"])]


def parity(made, way, name):
    tokenizer = AutoTokenizer.from_pretrained(made["tokenizer"])
    count = 0
    for r in rollouts(made["file"]):
        tokens, masks = way(tokenizer, r)
        same(r["tokens"], tokens, f"tokens of {r['messages'][1]['content'][:40]!r}")
        same(r["masks"], masks, f"masks of {r['messages'][1]['content'][:40]!r}")
        count += 1
    return f"{count} rollouts equal to {name}"


def refused(made):
    """What was left out is what Atropos' own function shifts: its masks hold other tokens than the text."""
    tokenizer = AutoTokenizer.from_pretrained(made["tokenizer"])
    kept = {r["id"] for r in rollouts(made["file"])}
    out = [r for r in rollouts(made["source"]) if r["id"] not in kept]
    same(len(out), made["leftOut"], "left out")
    assert out, "nothing was left out"
    for r in out:
        tokens, masks = by_atropos(tokenizer, r)
        assert any(m not in (-100, t) for t, m in zip(tokens, masks)), "its masks were sound"
    return f"{len(out)} rollouts refused whose masks would be shifted"


def script(made):
    """The script beside an export without tokens makes the same groups."""
    folder = os.path.dirname(made["source"])
    target = f"{made['file']}.by-script"
    command = [sys.executable, os.path.join(folder, "tokenize_groups.py"), made["source"], target, "--tokenizer", made["tokenizer"]]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-800:]
    ours = {g["group_id"]: g for g in lines(made["file"])}
    theirs = lines(target)
    for group in theirs:
        same(group, ours[group["group_id"]], group["group_id"])
    return f"{len(theirs)} groups"


for made in files["tokenized"]:
    label = f"template {made['name']}"
    check(f"{label}: tokens and masks are those of Atropos' tokenize_for_trainer", lambda: parity(made, by_atropos, "atroposlib"))
    if made["algorithm"] == "generation":
        check(f"{label}: tokens and masks are those of return_assistant_tokens_mask", lambda: parity(made, by_markers, "transformers"))
    if made["name"] == "unstable":
        check(f"{label}: what is refused is what would be shifted", lambda: refused(made))
    check(f"{label}: tokenize_groups.py makes the same groups", lambda: script(made))
