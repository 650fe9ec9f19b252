// The cost of a durable append: alone, and by sixteen threads that append to one job each through one store, and so
// share flushes. Prints one line of JSON for bench/store_bench.py.
//
//   store_appends STORE

#include "base/clock.hpp"
#include "store/open_store.hpp"
#include "tests/support/stored_jobs.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <exception>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace zeus;
using namespace zeus::literals;

constexpr std::uint64_t appends = 100;  // by each thread
constexpr int crowd = 16;

// Appended as a server does: with the request that asked for it, and the job's summary.
store::Attached attached(std::uint64_t entries) {
  return {.request = {.key = fmt::format("ann {}", entries), .asked = "epochs"},
          .summary = store::SummaryRow{
              .summary = {.name = "job",
                          .created = {},
                          .changed = {},
                          .entries = entries,
                          .device = "1 x Tesla V100-PCIE-32GB",
                          .next = {.limit = {}, .profiles = {}, .max_epochs = {}, .budget = {}, .why = "it is cheap"},
                          .savings = {},
                          .counted = {}},
              .days = {},
              .all_days = entries == 1}};
}

void append_all(store::JobStore& store, store::JobId job) {
  const std::uint64_t before = store.entries(job, 0, appends * 4).size();
  for (std::uint64_t sequence = before; sequence < before + appends; ++sequence) {
    const std::vector<records::JobEntryBody> body = {records::EpochsRun{
        .try_number = 0, .recurrence = 0, .progress = {.epochs = 1, .metric = 0.5, .gpus = {}, .time = 1_s}}};
    if (!store.append(job, sequence, body, WallTime{1}, attached(sequence + 1))) {
      throw Error{ErrorKind::internal, "no other thread appends"};
    }
  }
}

void measure(const std::string& place) {
  SystemClock clock;
  const auto store = store::open_store(place, store::Access::create, clock);
  std::vector<store::JobId> jobs;
  for (int index = 0; index < crowd; ++index) {
    jobs.push_back(store->find_or_create(fmt::format("job {}", index), test::one_limit_job(), {}).id);
  }
  const Instant alone = clock.now();
  append_all(*store, jobs.front());
  const Instant together = clock.now();
  {
    std::vector<std::jthread> threads;
    for (const store::JobId job : jobs) {
      threads.emplace_back([&store, job] { append_all(*store, job); });
    }
  }
  const Instant end = clock.now();
  fmt::print(R"({{"alone_ms":{},"together_ms":{}}})"
             "\n",
             Milliseconds{together - alone}.value() / appends,
             Milliseconds{end - together}.value() / (appends * crowd));
}

}  // namespace

int main(int, char** words) {
  try {
    measure(words[1]);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
