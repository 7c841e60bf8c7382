/** The name of the script beside an export without tokens. */
export const SCRIPT_FILE = 'tokenize_groups.py';

/**
 * A Python script that makes `tokens` and `masks` of such an export with the tokenizer of transformers, by the same two ways and the same
 * checks as the exporter's own; and that can hand the groups to the server of Atropos.
 */
export function tokenizeScript(): string {
  return SCRIPT;
}

const SCRIPT = String.raw`#!/usr/bin/env python3
"""Adds tokens and masks to groups that were exported without a tokenizer.

    python tokenize_groups.py groups.messages.jsonl groups.jsonl --tokenizer FOLDER_OR_NAME

Needs: pip install transformers jinja2. Groups that cannot be tokenized faithfully are left out, with the reason.
With --replay URL the groups are handed to a running Atropos server instead of, or besides, being written; start its
trainer first, with a batch size that the group sizes add up to.
"""
import argparse
import json
import re
import sys
import time
import urllib.request

IGNORED = -100
KEYS = ["tokens", "masks", "scores", "advantages", "ref_logprobs", "messages", "inference_logprobs", "generation_params",
        "group_overrides", "overrides", "images", "distill_token_ids", "distill_logprobs"]
MARKER = re.compile(r"\{%-?\s*generation\s*-?%\}")


class LeftOut(Exception):
    pass


def for_template(message):
    """No empty reasoning, and arguments as an object."""
    message = {k: v for k, v in message.items() if k != "reasoning_content" or v}
    if message.get("tool_calls"):
        message["tool_calls"] = [
            {**c, "function": {**c["function"], "arguments": json.loads(c["function"]["arguments"])}} for c in message["tool_calls"]
        ]
    return message


def template_of(tokenizer, tools):
    template = tokenizer.chat_template
    if isinstance(template, dict):
        template = template.get("tool_use" if tools else "default") or next(iter(template.values()))
    if not template:
        raise SystemExit("The tokenizer has no chat template.")
    return template


def render(tokenizer, messages, tools, ask=False):
    return tokenizer.apply_chat_template(messages, tools=tools or None, tokenize=False, add_generation_prompt=ask)


def encode(tokenizer, text):
    return tokenizer(text, add_special_tokens=False)["input_ids"]


def by_prefixes(tokenizer, messages, tools):
    """What the model wrote is what the text up to a turn has more than the text that asked for it."""
    full = render(tokenizer, messages, tools)
    borders = []
    for i, message in enumerate(messages):
        if message["role"] != "assistant":
            continue
        asked = render(tokenizer, messages[:i], tools, ask=True)
        answered = render(tokenizer, messages[: i + 1], tools)
        if not (answered.startswith(asked) and full.startswith(answered)) or (borders and len(asked) < borders[-1]):
            raise LeftOut("the chat template rewrites earlier turns")
        borders += [len(asked), len(answered)]
    tokens, masks = encode(tokenizer, full), []
    for i, start in enumerate([0] + borders):
        piece = encode(tokenizer, full[start : (borders + [len(full)])[i]])
        masks += piece if i % 2 else [IGNORED] * len(piece)
    return tokens, masks


def by_markers(tokenizer, messages, tools):
    """What the template's own generation markers enclose."""
    made = tokenizer.apply_chat_template(messages, tools=tools or None, tokenize=True, return_dict=True, return_assistant_tokens_mask=True)
    tokens = made["input_ids"]
    return tokens, [t if m else IGNORED for t, m in zip(tokens, made["assistant_masks"])]


def tokenize(tokenizer, algorithm, messages, tools, finish_reason):
    messages = [for_template(m) for m in messages]
    tools = json.loads(tools)
    marked = MARKER.search(template_of(tokenizer, tools)) is not None
    if algorithm == "generation" and not marked:
        raise SystemExit("The chat template has no generation markers.")
    ways = by_markers if marked and algorithm != "prefix" else by_prefixes
    try:
        tokens, masks = ways(tokenizer, messages, tools)
    except LeftOut:
        raise
    except Exception as error:
        raise LeftOut(f"the chat template refuses it: {error}") from error
    if finish_reason == "length" and tokens and tokens[-1] == tokenizer.eos_token_id:
        tokens, masks = tokens[:-1], masks[:-1]
    if len(tokens) != len(masks) or any(m not in (IGNORED, t) for t, m in zip(tokens, masks)):
        raise LeftOut("a token reaches over the border of what the model wrote")
    if all(m == IGNORED for m in masks):
        raise LeftOut("no token to train on")
    return tokens, masks


def call(url, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, headers={"content-type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def replay(url, groups):
    """Registers as an environment and sends the groups. The trainer must have registered and asked for a batch."""
    size = max(len(g["scores"]) for g in groups)
    longest = max(len(t) for g in groups for t in g["tokens"])
    while True:
        answer = call(f"{url}/register-env", {"max_token_length": longest + 1, "desired_name": "groups", "weight": 1.0, "group_size": size})
        if "env_id" in answer:
            break
        time.sleep(1)
    for group in groups:
        call(f"{url}/scored_data", {**{k: group[k] for k in KEYS}, "env_id": answer["env_id"]})
    call(f"{url}/disconnect-env", {"env_id": answer["env_id"]})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source")
    parser.add_argument("target")
    parser.add_argument("--tokenizer", required=True, help="folder or name for AutoTokenizer")
    parser.add_argument("--algorithm", choices=["auto", "prefix", "generation"], default="auto")
    parser.add_argument("--max-tokens", type=int, help="leave out groups with a longer rollout")
    parser.add_argument("--replay", metavar="URL", help="also send the groups to this Atropos server")
    options = parser.parse_args()
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(options.tokenizer)
    left_out, groups = {}, []
    with open(options.source, encoding="utf-8") as source, open(options.target, "x", encoding="utf-8") as target:
        for line in source:
            group = json.loads(line)
            try:
                made = [tokenize(tokenizer, options.algorithm, *r) for r in zip(group["messages"], group["tools"], group["finish_reason"])]
                if options.max_tokens and any(len(tokens) > options.max_tokens for tokens, _ in made):
                    raise LeftOut(f"more than {options.max_tokens} tokens")
            except LeftOut as reason:
                left_out[str(reason)] = left_out.get(str(reason), 0) + 1
                continue
            group = {"tokens": [t for t, _ in made], "masks": [m for _, m in made], **group}
            target.write(json.dumps(group, ensure_ascii=False) + "\n")
            if options.replay:
                groups.append(group)
    for reason, count in left_out.items():
        print(f"{count} groups left out: {reason}", file=sys.stderr)
    if groups:
        replay(options.replay.rstrip("/"), groups)


if __name__ == "__main__":
    main()
`;
