"""Architectures of `transformers` and `timm` from their configs, with random weights: few layers, but wide ones and long inputs.

Each makes a model and the keyword arguments of a step. What a step minimises is the model's own loss, or the mean of the
squares of sines of what it gives.
"""

import timm
import torch
import transformers
from torch import nn

TOKENS = 1024
WIDTH = 512
VOCABULARY = 1000


class Loss(nn.Module):
    """A model, and the number that a step minimises."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, **inputs):
        out = self.model(**inputs)
        loss = getattr(out, "loss", None)
        if loss is not None:
            return loss
        given = out if torch.is_tensor(out) else next(iter(out.values()))
        return given.float().sin().square().mean()


def text(labelled=True):
    tokens = torch.randint(0, VOCABULARY, (1, TOKENS))
    return {"input_ids": tokens, "labels": tokens} if labelled else {"input_ids": tokens}


def images(size=224):
    return torch.randn(4, 3, size, size)


def decoder(config, model, layers, **more):
    """A causal language model of the Llama kind."""
    sizes = {
        "vocab_size": VOCABULARY,
        "hidden_size": WIDTH,
        "intermediate_size": 2 * WIDTH,
        "num_hidden_layers": layers,
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "max_position_embeddings": TOKENS,
        "use_cache": False,
        "pad_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
    }
    return model(config(**{**sizes, **more})), text()


def llama(layers):
    return decoder(transformers.LlamaConfig, transformers.LlamaForCausalLM, layers)


def qwen3(layers):
    return decoder(transformers.Qwen3Config, transformers.Qwen3ForCausalLM, layers, head_dim=64)


def mixtral(layers):
    experts = {"num_local_experts": 4, "num_experts_per_tok": 2}
    return decoder(transformers.MixtralConfig, transformers.MixtralForCausalLM, layers, **experts)


def gemma3(layers):
    more = {"head_dim": 64, "sliding_window": TOKENS // 2}
    return decoder(transformers.Gemma3TextConfig, transformers.Gemma3ForCausalLM, layers, **more)


def gpt2(layers):
    config = transformers.GPT2Config(
        vocab_size=VOCABULARY, n_positions=TOKENS, n_embd=WIDTH, n_layer=layers, n_head=8, use_cache=False
    )
    return transformers.GPT2LMHeadModel(config), text()


def bert(layers):
    config = transformers.BertConfig(
        vocab_size=VOCABULARY,
        hidden_size=WIDTH,
        num_hidden_layers=layers,
        num_attention_heads=8,
        intermediate_size=4 * WIDTH,
        max_position_embeddings=TOKENS,
    )
    return transformers.BertForMaskedLM(config), text()


def vit(layers):
    config = transformers.ViTConfig(
        hidden_size=WIDTH, num_hidden_layers=layers, num_attention_heads=8, intermediate_size=4 * WIDTH
    )
    return transformers.ViTModel(config), {"pixel_values": images()}


def t5(layers):
    config = transformers.T5Config(
        vocab_size=VOCABULARY,
        d_model=WIDTH,
        d_ff=2 * WIDTH,
        d_kv=64,
        num_layers=layers,
        num_heads=8,
        dropout_rate=0.0,
        decoder_start_token_id=0,
        use_cache=False,
    )
    return transformers.T5ForConditionalGeneration(config), text()


def convnext(_):
    model = timm.create_model("convnext_atto", pretrained=False, depths=(1, 1, 1, 1))
    return model, {"x": images()}


def whisper(layers):
    config = transformers.WhisperConfig(
        d_model=WIDTH, encoder_layers=layers, encoder_attention_heads=8, decoder_attention_heads=8
    )
    encoder = transformers.WhisperModel(config).encoder
    return encoder, {"input_features": torch.randn(1, config.num_mel_bins, 2 * config.max_source_positions)}


def clip(layers):
    config = transformers.CLIPVisionConfig(
        hidden_size=WIDTH,
        num_hidden_layers=layers,
        num_attention_heads=8,
        intermediate_size=4 * WIDTH,
        image_size=224,
        patch_size=16,
    )
    return transformers.CLIPVisionModel(config), {"pixel_values": images()}


MODELS = {
    model.__name__: model
    for model in (llama, qwen3, mixtral, gpt2, bert, vit, gemma3, t5, convnext, whisper, clip)
}


def made(name, layers=2):
    """A model that draws nothing, with its loss, and the inputs of a step."""
    torch.manual_seed(0)
    model, inputs = MODELS[name](layers)
    for part in model.modules():
        if isinstance(part, nn.Dropout):
            part.p = 0.0
    return Loss(model).train(), inputs
