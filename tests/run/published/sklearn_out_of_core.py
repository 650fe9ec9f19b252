"""Out-of-core classification: the documents do not fit into memory, so they are read in minibatches and learned with
partial_fit. A hashing vectorizer keeps the feature space the same for all of them.
"""

import argparse
import time

import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier

WORDS = [f"word{i}" for i in range(400)]


def stream_documents(rng):
    while True:
        positive = rng.random() < 0.4
        weights = np.ones(len(WORDS))
        weights[:40] *= 1.35 if positive else 1.0
        words = rng.choice(WORDS, size=30, p=weights / weights.sum())
        yield " ".join(words), int(positive)


def get_minibatch(documents, size):
    texts, labels = zip(*(next(documents) for _ in range(size)))
    return list(texts), np.asarray(labels)


def progress(stats):
    duration = time.time() - stats["t0"]
    s = "%20s classifier : \t" % "SGD"
    s += "%(n_train)6d train docs (%(n_train_pos)6d positive) " % stats
    s += "%(n_test)6d test docs (%(n_test_pos)6d positive) " % test_stats
    s += "accuracy: %(accuracy).3f " % stats
    s += "in %.2fs (%5d docs/s)" % (duration, stats["n_train"] / duration)
    return s


parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=100)
parser.add_argument("--batches", type=int, default=300)
args = parser.parse_args()

rng = np.random.default_rng(42)
vectorizer = HashingVectorizer(decode_error="ignore", n_features=2**14, alternate_sign=False)
documents = stream_documents(rng)
X_test_text, y_test = get_minibatch(documents, 1000)
X_test = vectorizer.transform(X_test_text)
test_stats = {"n_test": len(y_test), "n_test_pos": sum(y_test)}
print("Test set is %d documents (%d positive)" % (len(y_test), sum(y_test)))

classifier = SGDClassifier(max_iter=5)
stats = {"n_train": 0, "n_train_pos": 0, "accuracy": 0.0, "t0": time.time()}
for i in range(args.batches):
    X_text, y = get_minibatch(documents, args.batch_size)
    X = vectorizer.transform(X_text)
    classifier.partial_fit(X, y, classes=np.array([0, 1]))
    stats["n_train"] += X.shape[0]
    stats["n_train_pos"] += sum(y)
    if (i + 1) % 3 == 0:
        stats["accuracy"] = classifier.score(X_test, y_test)
        print(progress(stats))
    if (i + 1) % 30 == 0:
        print("\n")
