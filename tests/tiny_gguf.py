"""A model for tests: 2 layers, width 64, random weights, one token per byte. Written in well under a second.

It says nothing sensible. It makes llama.cpp stream, count, measure and refuse like with any other model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import gguf
import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

LAYERS, WIDTH, HEADS, FEED_FORWARD, CONTEXT = 2, 64, 4, 128, 512
VOCABULARY = 3 + 256
TEMPLATE = (
    "{% for m in messages %}{{ '[' + m['role'] + '] ' + m['content'] + '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}[assistant] {% endif %}"
)


def write_tiny_gguf(path: Path, *, seed: int = 0) -> Path:
    """Writes the model to ``path`` and returns it; equal bytes for equal seeds."""
    out = gguf.GGUFWriter(str(path), "llama")
    out.add_name("tiny random")
    out.add_context_length(CONTEXT)
    out.add_embedding_length(WIDTH)
    out.add_block_count(LAYERS)
    out.add_feed_forward_length(FEED_FORWARD)
    out.add_head_count(HEADS)
    out.add_head_count_kv(HEADS)
    out.add_rope_dimension_count(WIDTH // HEADS)
    out.add_layer_norm_rms_eps(1e-5)
    out.add_vocab_size(VOCABULARY)
    out.add_file_type(gguf.LlamaFileType.ALL_F32)
    _tokenizer(out)
    for name, shape in _shapes():
        out.add_tensor(name, _weights(name, shape, seed))
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()
    return path


def _tokenizer(out: gguf.GGUFWriter) -> None:
    tokens = [b"<unk>", b"<s>", b"</s>"] + [f"<0x{byte:02X}>".encode() for byte in range(256)]
    kinds = [gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.CONTROL]
    out.add_tokenizer_model("llama")
    out.add_token_list(tokens)
    out.add_token_scores([0.0] * len(tokens))
    out.add_token_types([*kinds, *[gguf.TokenType.BYTE] * 256])
    out.add_bos_token_id(1)
    out.add_eos_token_id(2)
    out.add_unk_token_id(0)
    out.add_chat_template(TEMPLATE)


def _shapes() -> list[tuple[str, tuple[int, ...]]]:
    shapes: list[tuple[str, tuple[int, ...]]] = [
        ("token_embd.weight", (VOCABULARY, WIDTH)),
        ("output_norm.weight", (WIDTH,)),
        ("output.weight", (VOCABULARY, WIDTH)),
    ]
    for layer in range(LAYERS):
        block = f"blk.{layer}"
        shapes += [(f"{block}.{name}_norm.weight", (WIDTH,)) for name in ("attn", "ffn")]
        shapes += [(f"{block}.attn_{name}.weight", (WIDTH, WIDTH)) for name in ("q", "k", "v", "output")]
        shapes += [(f"{block}.ffn_{name}.weight", (FEED_FORWARD, WIDTH)) for name in ("gate", "up")]
        shapes.append((f"{block}.ffn_down.weight", (WIDTH, FEED_FORWARD)))
    return shapes


def _weights(
    name: str, shape: tuple[int, ...], seed: int
) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    if "norm" in name:
        return np.ones(shape, dtype=np.float32)
    dice = np.random.default_rng([seed, *name.encode()])
    weights = dice.normal(0.0, 0.3, shape).astype(np.float32)
    if name == "output.weight":
        weights[:3] = 0.0  # neither a control token nor the end: replies run to their limit
    return weights
