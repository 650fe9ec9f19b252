"""A two-layer neural network from scratch, in plain NumPy.

    python numpy_mlp.py --epochs 12 --batch-size 64
"""

import argparse

import numpy as np


def make_digits(samples, classes, features, rng):
    centers = rng.normal(size=(classes, features))
    labels = rng.integers(classes, size=samples)
    return centers[labels] + rng.normal(scale=4.5, size=(samples, features)), labels


def one_hot(labels, classes):
    return np.eye(classes)[labels]


def softmax(z):
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


class MLP:
    def __init__(self, features, hidden, classes, rng):
        self.W1 = rng.normal(scale=np.sqrt(2 / features), size=(features, hidden))
        self.b1 = np.zeros(hidden)
        self.W2 = rng.normal(scale=np.sqrt(2 / hidden), size=(hidden, classes))
        self.b2 = np.zeros(classes)

    def forward(self, X):
        self.X = X
        self.h = np.maximum(0, np.dot(X, self.W1) + self.b1)
        return softmax(np.dot(self.h, self.W2) + self.b2)

    def backward(self, probs, Y, lr):
        delta = (probs - Y) / len(Y)
        dW2 = np.dot(self.h.T, delta)
        dh = np.dot(delta, self.W2.T) * (self.h > 0)
        dW1 = np.dot(self.X.T, dh)
        self.W2 -= lr * dW2
        self.b2 -= lr * delta.sum(axis=0)
        self.W1 -= lr * dW1
        self.b1 -= lr * dh.sum(axis=0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--hidden", type=int, default=128)
    args = parser.parse_args()

    rng = np.random.default_rng(0)
    X, y = make_digits(4000, 10, 256, rng)
    X_train, y_train, X_test, y_test = X[:3200], y[:3200], X[3200:], y[3200:]
    model = MLP(X.shape[1], args.hidden, 10, rng)

    for epoch in range(1, args.epochs + 1):
        order = rng.permutation(len(X_train))
        losses = []
        for i in range(0, len(order), args.batch_size):
            batch = order[i:i + args.batch_size]
            Y = one_hot(y_train[batch], 10)
            probs = model.forward(X_train[batch])
            losses.append(-np.mean(np.sum(Y * np.log(probs + 1e-9), axis=1)))
            model.backward(probs, Y, args.lr)
        accuracy = np.mean(model.forward(X_test).argmax(axis=1) == y_test)
        print(f"Epoch {epoch}/{args.epochs} - loss: {np.mean(losses):.4f} - val_accuracy: {accuracy:.4f}")

    print("Done training!")


if __name__ == "__main__":
    main()
