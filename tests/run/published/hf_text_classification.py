"""Fine-tunes a small transformer for sequence classification with the Trainer, on generated sentences."""

import argparse
import tempfile

import numpy as np
import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments


class Sentences(torch.utils.data.Dataset):
    """A sentence is positive if most of its words are from the first half of the vocabulary."""

    def __init__(self, size, seed, length=16, vocabulary=60):
        generator = torch.Generator().manual_seed(seed)
        self.ids = torch.randint(vocabulary, (size, length), generator=generator)
        self.labels = ((self.ids < vocabulary // 2).sum(dim=1) > length // 2).long()

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return {"input_ids": self.ids[index], "labels": self.labels[index]}


def compute_metrics(eval_pred):
    logits, labels = eval_pred
    predictions = np.argmax(logits, axis=-1)
    return {"accuracy": float((predictions == labels).mean())}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--per_device_train_batch_size", type=int, default=32)
    parser.add_argument("--num_train_epochs", type=int, default=6)
    parser.add_argument("--learning_rate", type=float, default=1e-3)
    args = parser.parse_args()

    config = BertConfig(vocab_size=60, hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
                        intermediate_size=64, max_position_embeddings=16)
    with tempfile.TemporaryDirectory() as output_dir:
        training_args = TrainingArguments(
            output_dir=output_dir, per_device_train_batch_size=args.per_device_train_batch_size,
            num_train_epochs=args.num_train_epochs, learning_rate=args.learning_rate, eval_strategy="epoch",
            save_strategy="no", logging_steps=10, report_to="none", seed=0)
        trainer = Trainer(model=BertForSequenceClassification(config), args=training_args,
                          train_dataset=Sentences(1600, 1), eval_dataset=Sentences(400, 2),
                          compute_metrics=compute_metrics)
        trainer.train()
        print(trainer.evaluate())


if __name__ == "__main__":
    main()
