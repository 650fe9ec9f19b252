#include <zeus/zeus.hpp>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <thread>
#include <vector>

static std::vector<int> batches(100);
static double quality = 0;

static void train() {
  std::this_thread::sleep_for(std::chrono::milliseconds{120});
}

static void learn(int& batch) {
  std::this_thread::sleep_for(std::chrono::milliseconds{2});
  quality += 0.0005 + batch;
}

static double evaluate() {
  return quality;
}

#define PRELUDE (void)train, (void)learn, (void)evaluate;
