// Trains a small classifier on slices of tweets (slices.py), and really learns each of them.
//
//   capriccio train FOLDER SLICE BATCH_SIZE SEED      one training, which prints steps and accuracies, for `zeus run`
//   capriccio epochs FOLDER [RUNS [SIZE ...]]         the epochs to the target of RUNS trainings of each slice at each
//   batch
//                                                     size, as CSV, for `zeus simulate paper --capriccio`
#include "small_network/training.hpp"
#include "small_network/words.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using small_network::Tweet;

constexpr double target = 0.72;  // of accuracy: most of what the words of a tweet tell
constexpr int most_epochs = 30;
constexpr std::size_t reference_size = 128;
constexpr double reference_rate = 8.0;

// What stands between `before` and `after` in a line; nothing if either is missing.
std::optional<std::string> between(const std::string& line, const std::string& before, const std::string& after) {
  const std::size_t begin = line.find(before);
  const std::size_t end = begin == std::string::npos ? begin : line.find(after, begin + before.size());
  return end == std::string::npos ? std::nullopt
                                  : std::optional{line.substr(begin + before.size(), end - begin - before.size())};
}

// Of lines such as {"date": "...", "text": "...", "label": 4}, as slices.py writes them.
std::vector<Tweet> read(const std::string& path) {
  std::ifstream file{path};
  if (!file) {
    throw std::runtime_error{path + " cannot be read"};
  }
  std::vector<Tweet> tweets;
  std::string line;
  while (std::getline(file, line)) {
    const auto text = between(line, "\"text\": \"", "\", \"label\": ");
    const auto label = between(line, "\", \"label\": ", "}");
    if (!text || !label || (*label != "0" && *label != "4")) {
      throw std::runtime_error{path + ":" + std::to_string(tweets.size() + 1) + ": this is not a line of slices.py"};
    }
    tweets.push_back({.words = small_network::words_of(*text), .good = *label == "4"});
  }
  if (tweets.empty()) {
    throw std::runtime_error{path + " has no tweet; make the slices again, with more tweets"};
  }
  return tweets;
}

struct Slice {
  std::vector<Tweet> train;
  std::vector<Tweet> held_out;
};

Slice read_slice(const std::string& folder, int number) {
  const std::string begin = folder + "/" + std::to_string(number);
  return {.train = read(begin + "_train.json"), .held_out = read(begin + "_val.json")};
}

// Calls `each` after each epoch with its number and the accuracy; the epoch of the target, or nothing.
template <typename Each>
std::optional<int> learn(const Slice& slice, std::size_t batch_size, std::uint64_t seed, const Each& each) {
  small_network::WordTraining training{
      slice.train,
      {.batch_size = batch_size,
       .learning_rate = small_network::scaled_by_root(reference_rate, reference_size, batch_size),
       .seed = seed}};
  for (int epoch = 1; epoch <= most_epochs; ++epoch) {
    training.epoch();
    const double accuracy = training.accuracy(slice.held_out);
    each(epoch, accuracy);
    if (accuracy >= target) {
      return epoch;
    }
  }
  return std::nullopt;
}

int train(const std::string& folder, int number, std::size_t batch_size, std::uint64_t seed) {
  const auto reached = learn(read_slice(folder, number), batch_size, seed, [](int epoch, double accuracy) {
    std::cout << "epoch " << epoch << ": accuracy " << accuracy << std::endl;
  });
  return reached ? 0 : 1;
}

void epochs(const std::string& folder, int runs, const std::vector<std::size_t>& batch_sizes) {
  std::cout << "slice,batch_size,run,target_epoch\n";
  for (int number = 1; std::ifstream{folder + "/" + std::to_string(number) + "_train.json"}; ++number) {
    const Slice slice = read_slice(folder, number);
    for (const std::size_t batch_size : batch_sizes) {
      for (int run = 0; run < runs; ++run) {
        const auto reached = learn(slice, batch_size, static_cast<std::uint64_t>(run), [](int, double) {});
        std::cout << number << ',' << batch_size << ',' << run << ',' << (reached ? std::to_string(*reached) : "")
                  << '\n';
      }
    }
    std::cout.flush();
  }
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  try {
    if (words.size() == 5 && words[0] == "train") {
      return train(words[1], std::stoi(words[2]), std::stoul(words[3]), std::stoul(words[4]));
    }
    if (words.size() >= 2 && words[0] == "epochs") {
      std::vector<std::size_t> sizes{8, 16, 32, 64, 128};
      if (words.size() > 3) {
        sizes.clear();
        for (std::size_t i = 3; i < words.size(); ++i) {
          sizes.push_back(std::stoul(words[i]));
        }
      }
      epochs(words[1], words.size() > 2 ? std::stoi(words[2]) : 4, sizes);
      return 0;
    }
    std::cerr << "usage: capriccio train FOLDER SLICE BATCH_SIZE SEED | capriccio epochs FOLDER [RUNS [SIZE ...]]\n";
  } catch (const std::exception& problem) {
    std::cerr << "capriccio: " << problem.what() << '\n';
  }
  return 2;
}
