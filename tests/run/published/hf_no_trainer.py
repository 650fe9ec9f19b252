"""Fine-tunes a small transformer with a hand-written training loop: Accelerate, one bar over all steps, and a logger."""

import argparse
import logging
import math

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset
from tqdm.auto import tqdm
from transformers import DistilBertConfig, DistilBertForSequenceClassification, get_scheduler

logger = logging.getLogger(__name__)


def parse_args():
    parser = argparse.ArgumentParser(description="Fine-tune a transformers model on a text classification task")
    parser.add_argument("--per_device_train_batch_size", type=int, default=32)
    parser.add_argument("--per_device_eval_batch_size", type=int, default=100)
    parser.add_argument("--learning_rate", type=float, default=1e-3)
    parser.add_argument("--num_train_epochs", type=int, default=6)
    parser.add_argument("--seed", type=int, default=11)
    return parser.parse_args()


def make_dataset(size, generator):
    ids = torch.randint(60, (size, 16), generator=generator)
    return TensorDataset(ids, ((ids < 30).sum(dim=1) > 8).long())


def main():
    args = parse_args()
    accelerator = Accelerator()
    logging.basicConfig(format="%(asctime)s - %(levelname)s - %(name)s - %(message)s", datefmt="%m/%d/%Y %H:%M:%S",
                        level=logging.INFO)
    torch.manual_seed(args.seed)
    generator = torch.Generator().manual_seed(args.seed)
    train_dataset, eval_dataset = make_dataset(1600, generator), make_dataset(400, generator)
    train_dataloader = DataLoader(train_dataset, shuffle=True, batch_size=args.per_device_train_batch_size)
    eval_dataloader = DataLoader(eval_dataset, batch_size=args.per_device_eval_batch_size)

    model = DistilBertForSequenceClassification(DistilBertConfig(
        vocab_size=60, dim=32, n_layers=1, n_heads=2, hidden_dim=64, max_position_embeddings=16))
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.learning_rate)
    max_train_steps = args.num_train_epochs * math.ceil(len(train_dataloader))
    lr_scheduler = get_scheduler("linear", optimizer=optimizer, num_warmup_steps=0, num_training_steps=max_train_steps)
    model, optimizer, train_dataloader, eval_dataloader, lr_scheduler = accelerator.prepare(
        model, optimizer, train_dataloader, eval_dataloader, lr_scheduler)

    logger.info("***** Running training *****")
    logger.info(f"  Num examples = {len(train_dataset)}")
    logger.info(f"  Num Epochs = {args.num_train_epochs}")
    logger.info(f"  Instantaneous batch size per device = {args.per_device_train_batch_size}")
    logger.info(f"  Total optimization steps = {max_train_steps}")
    progress_bar = tqdm(range(max_train_steps), disable=not accelerator.is_local_main_process)

    for epoch in range(args.num_train_epochs):
        model.train()
        for input_ids, labels in train_dataloader:
            outputs = model(input_ids=input_ids, labels=labels)
            accelerator.backward(outputs.loss)
            optimizer.step()
            lr_scheduler.step()
            optimizer.zero_grad()
            progress_bar.update(1)
        model.eval()
        correct = 0
        for input_ids, labels in eval_dataloader:
            with torch.no_grad():
                predictions = model(input_ids=input_ids).logits.argmax(dim=-1)
            correct += (predictions == labels).sum().item()
        eval_metric = {"accuracy": correct / len(eval_dataset)}
        logger.info(f"epoch {epoch}: {eval_metric}")


if __name__ == "__main__":
    main()
