"""Generates text with a small transformer, token by token, and prints what a token takes: on a GPU if PyTorch sees one, else on the
CPU. The lines that end with `# Zeus` are all that Zeus takes; with a model of your own, the rest is yours."""

import torch
from torch import nn
from zeus.monitor import ZeusMonitor  # Zeus

CUDA = torch.cuda.is_available()
DEVICE = torch.device("cuda" if CUDA else "cpu")
WORDS, LAYERS, WIDTH = (32000, 24, 2048) if CUDA else (1000, 2, 64)
PROMPT, ANSWER = 128, 64 if CUDA else 16


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, WIDTH // 32, 4 * WIDTH, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, text: torch.Tensor) -> torch.Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(text.shape[1], device=text.device)
        return self.head(self.layers(self.words(text), mask=mask, is_causal=True)[:, -1])


torch.manual_seed(0)
model = Model().to(DEVICE, torch.bfloat16 if CUDA else torch.float32).eval()
monitor = ZeusMonitor()  # Zeus
with torch.inference_mode():
    model(torch.zeros(1, PROMPT, dtype=torch.long, device=DEVICE))  # the first call is slower
    for batch in (1, 4, 16):
        text = torch.randint(WORDS, (batch, PROMPT), device=DEVICE)
        monitor.begin_window("generate")  # Zeus
        for _ in range(ANSWER):
            text = torch.cat([text, model(text).argmax(1, keepdim=True)], dim=1)
        measured = monitor.settle(monitor.end_window("generate"))  # Zeus
        tokens, total = batch * ANSWER, measured.details.total
        if total.value is None:
            print(f"batch {batch}: {tokens} tokens in {measured.time:.2f} s, their energy is unknown: {total.reason}")
        else:
            print(f"batch {batch}: {tokens} tokens in {measured.time:.2f} s took {total}, {total.value / tokens:.3g} J each")
