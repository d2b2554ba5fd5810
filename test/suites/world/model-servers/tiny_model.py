"""Writes a model of a few kilobytes that says fixed texts, for a server whose wire is real.

Usage: tiny_model.py <file.gguf>

Each token leads to one other: the embedding of a token is a unit vector, all layers are zero, and the output matrix
maps the vector of a token to the token that follows. The template of the chat ends a prompt with the token that begins
one of the texts, so that the conversation chooses what is said.
"""

import sys

import gguf
import numpy as np

WIDTH = 512

CALLS = [
    "<tool_call>\n", '{"name": ', '"read_file"', ', "arguments": ', '{"target_file": "main.tf"', "}}", "\n</tool_call>",
    "\n<tool_call>\n", '{"na', 'me": "list', '_dir", "argu', 'ments": ', "{}}\n", "</tool_call>",
]
ANSWER = ["<think>\n", "Both were", " read.", "\n</think>\n\n", "The bucket", " is private", "."]

# The template of Qwen 2.5, cut to what is asked here. The last token of the prompt begins a text.
TEMPLATE = """{%- if tools %}
{{- '<|im_start|>system\\n' }}
{%- if messages[0].role == 'system' %}{{- messages[0].content + '\\n\\n' }}{%- endif %}
{{- "# Tools\\n\\nYou may call one or more functions to assist with the user query.\\n\\n<tools>" }}
{%- for tool in tools %}{{- '\\n' }}{{- tool | tojson }}{%- endfor %}
{{- '\\n</tools>\\n\\nFor each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:\\n<tool_call>\\n{"name": <function-name>, "arguments": <args-json-object>}\\n</tool_call><|im_end|>\\n' }}
{%- elif messages[0].role == 'system' %}
{{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
{%- if message.role == 'system' and not loop.first %}
{{- raise_exception('System message must be at the beginning.') }}
{%- elif message.role == 'user' %}
{%- if not loop.first and loop.previtem.role == 'user' %}{{- raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{%- endif %}
{{- '<|im_start|>user\\n' + message.content + '<|im_end|>\\n' }}
{%- elif message.role == 'assistant' %}
{{- '<|im_start|>assistant' }}
{%- if message.content %}{{- '\\n' + message.content }}{%- endif %}
{%- for tool_call in message.tool_calls %}
{{- '\\n<tool_call>\\n{"name": "' + tool_call.function.name + '", "arguments": ' + (tool_call.function.arguments | tojson) + '}\\n</tool_call>' }}
{%- endfor %}
{{- '<|im_end|>\\n' }}
{%- elif message.role == 'tool' %}
{{- '<|im_start|>user\\n<tool_response>\\n' + message.content + '\\n</tool_response><|im_end|>\\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
{{- '<|im_start|>assistant\\n' }}
{%- if tools and messages[-1].role != 'tool' %}{{- '<|calls|>' }}{%- else %}{{- '<|answer|>' }}{%- endif %}
{%- endif %}"""


def main(path: str) -> None:
    special = ["<unk>", "<|im_start|>", "<|im_end|>", "<|calls|>", "<|answer|>"]
    tokens = special + [f"<0x{byte:02X}>" for byte in range(256)] + CALLS + ANSWER
    kinds = gguf.TokenType
    types = [kinds.UNKNOWN] + [kinds.CONTROL] * 4 + [kinds.BYTE] * 256 + [kinds.NORMAL] * len(CALLS + ANSWER)
    place = {token: index for index, token in enumerate(tokens)}
    assert len(place) == len(tokens) <= WIDTH

    following = {"<|calls|>": CALLS[0], "<|answer|>": ANSWER[0]}
    for text in (CALLS, ANSWER):
        following.update(zip(text, [*text[1:], "<|im_end|>"]))
    embedding = np.eye(len(tokens), WIDTH, dtype=np.float32)
    output = np.zeros((len(tokens), WIDTH), dtype=np.float32)
    for token in tokens:
        output[place[following.get(token, "<|im_end|>")], place[token]] = 1

    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("tiny")
    writer.add_context_length(65536)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(32)
    writer.add_head_count(8)
    writer.add_head_count_kv(8)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // 8)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("llama")
    writer.add_token_list([token.replace(" ", "\u2581") for token in tokens])
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types(types)
    writer.add_bos_token_id(place["<|im_start|>"])
    writer.add_eos_token_id(place["<|im_end|>"])
    writer.add_unk_token_id(0)
    writer.add_add_bos_token(False)
    writer.add_add_space_prefix(False)
    writer.add_chat_template(TEMPLATE)
    zeros = lambda *shape: np.zeros(shape, dtype=np.float32)
    ones = np.ones(WIDTH, dtype=np.float32)
    tensors = {
        "token_embd.weight": embedding,
        "output.weight": output,
        "output_norm.weight": ones,
        "blk.0.attn_norm.weight": ones,
        "blk.0.ffn_norm.weight": ones,
        "blk.0.ffn_gate.weight": zeros(32, WIDTH),
        "blk.0.ffn_up.weight": zeros(32, WIDTH),
        "blk.0.ffn_down.weight": zeros(WIDTH, 32),
        **{f"blk.0.attn_{part}.weight": zeros(WIDTH, WIDTH) for part in ("q", "k", "v", "output")},
    }
    for name, tensor in tensors.items():
        writer.add_tensor(name, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


main(sys.argv[1])
