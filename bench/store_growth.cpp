// What a store answers at once, with few jobs and with many: the first page of a list, the savings over all jobs, the
// lengths of their histories, and the jobs that lack a summary; and the import of a long history. Prints one line of
// JSON for bench/store_growth_bench.py.
//
//   store_growth STORE JOBS ENTRIES

#include "base/clock.hpp"
#include "store/open_store.hpp"
#include "tests/support/stored_jobs.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <vector>

namespace {

using namespace zeus;
using namespace zeus::literals;

constexpr int rounds = 11;
constexpr std::int64_t days = 30;

records::JobSummary summary(const std::string& name, int number) {
  return {.name = name,
          .created = {},
          .changed = WallTime{number},
          .entries = 0,
          .device = "1 x Tesla V100-PCIE-32GB",
          .recurrences = 100,
          .next = {.limit = 150_W, .profiles = {}, .max_epochs = 100, .budget = {}, .why = "it has been the cheapest"},
          .savings = records::SavingsView{.recurrences = 90,
                                          .energy = Joules{1000.0 * number},
                                          .energy_uncertainty = 10_J,
                                          .time_uncertainty = 1_s,
                                          .cost_uncertainty = 10_J},
          .counted = records::CountedEpochs{.mean = 30.0, .half_width = 1.0}};
}

std::vector<records::DaySums> sums() {
  std::vector<records::DaySums> all;
  for (std::int64_t day = 0; day < days; ++day) {
    records::DaySums one{.day = day, .unit = records::CountUnit::epoch, .recurrences = 3};
    one.took = {.energy = 1000_J, .time = 10_s, .cost = 1000_J};
    one.epoch = {.energy = 50_J, .time = 1_s, .cost = 50_J};
    all.push_back(one);
  }
  return all;
}

double median_ms(Clock& clock, const std::function<void()>& work) {
  std::vector<double> seen;
  for (int round = 0; round < rounds; ++round) {
    const Instant before = clock.now();
    work();
    seen.push_back(Milliseconds{clock.now() - before}.value());
  }
  std::ranges::nth_element(seen, seen.begin() + rounds / 2);
  return seen[rounds / 2];
}

void measure(const std::string& place, int jobs, int entries) {
  SystemClock clock;
  const auto store = store::open_pool(place, clock, 2);
  for (int number = 0; number < jobs; ++number) {
    const std::string name = fmt::format("job {:05}", number);
    store->keep_summary(store->find_or_create(name, test::one_limit_job(), {}).id,
                        {.summary = summary(name, number), .days = sums()});
  }
  fmt::print(R"({{"page_ms":{}, "by_change_ms":{}, "running_ms":{}, "lacking_ms":{}, "savings_ms":{}, "lengths_ms":{})",
             median_ms(clock, [&] { store->summaries({}); }),
             median_ms(clock, [&] { store->summaries({.order = store::SummaryOrder::changed}); }),
             median_ms(clock, [&] { store->summaries({.state = store::SummaryState::running}); }),
             median_ms(clock, [&] { store->without_summary(); }), median_ms(clock, [&] { store->savings(0, days); }),
             median_ms(clock, [&] { store->lengths(); }));
  std::vector<records::JobEntry> history;
  for (int number = 0; number < entries; ++number) {
    history.push_back(
        {.sequence = static_cast<std::uint64_t>(number) + 1,
         .written = {},
         .body = records::EpochsRun{.try_number = 0,
                                    .recurrence = 0,
                                    .progress = {.epochs = number, .metric = 0.5, .gpus = {}, .time = 1_s}}});
  }
  const Instant before = clock.now();
  store::GivenEntries given{history};
  store->import("imported", test::one_limit_job(), {}, given);
  fmt::print(R"(, "import_s":{}}})"
             "\n",
             (clock.now() - before).value());
}

}  // namespace

int main(int, char** words) {
  try {
    measure(words[1], std::stoi(words[2]), std::stoi(words[3]));
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
