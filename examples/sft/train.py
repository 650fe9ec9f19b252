"""Supervised fine-tuning with TRL's SFTTrainer that chooses the power limit while it trains; the callback is all that Zeus takes. On a
GPU if there is one, else on the CPU. The model is a small Llama with random weights, so that nothing is downloaded: put the name of
yours in its place."""

import torch
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import SFTConfig, SFTTrainer
from zeus.monitor import ZeusMonitor
from zeus.optimizer.power_limit import HFGlobalPowerLimitOptimizer, MaxSlowdownConstraint

CUDA = torch.cuda.is_available()
WIDTH, LAYERS = (2048, 16) if CUDA else (32, 2)
NAMES = [f"w{number}" for number in range(61)]

words = Tokenizer(models.WordLevel({word: number for number, word in enumerate(["<pad>", "<s>", "</s>", *NAMES])}, unk_token="<pad>"))
words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>", bos_token="<s>", eos_token="</s>")
model = LlamaForCausalLM(LlamaConfig(vocab_size=64, hidden_size=WIDTH, intermediate_size=3 * WIDTH, num_hidden_layers=LAYERS,
                                     num_attention_heads=4 if WIDTH < 64 else 16, pad_token_id=0, bos_token_id=1, eos_token_id=2))
lines = [{"text": " ".join(NAMES[(start + step) % 61] for step in range(24))} for start in range(8192 if CUDA else 1024)]

callback = HFGlobalPowerLimitOptimizer(ZeusMonitor(), MaxSlowdownConstraint(1.05), warmup_steps=3, profile_steps=15, pl_step=50)
arguments = SFTConfig("sft", per_device_train_batch_size=8, num_train_epochs=1, max_length=32, bf16=CUDA, use_cpu=not CUDA,
                      report_to=[], save_strategy="no", logging_steps=32, disable_tqdm=True)
SFTTrainer(model=model, args=arguments, train_dataset=Dataset.from_list(lines), processing_class=tokenizer, callbacks=[callback]).train()
limit = getattr(callback.optimizer.state, "optimal_power_limit", None)
print(f"chosen: {limit // 1000} W" if limit else f"no choice: {callback.optimizer.unoptimized}")
