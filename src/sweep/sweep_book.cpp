#include "sweep/sweep_book.hpp"

#include "base/printable.hpp"
#include "run/progress_patterns.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <utility>

namespace zeus::sweep {

SweepBook::SweepBook(const std::filesystem::path& folder, SweepListener& listener, bool may_be_empty)
    : folder_{folder}, listener_{listener}, ledger_{folder / ledger_name}, queue_{folder} {
  if (ledger_.cut()) {
    listener_.warn("the last line of the ledger was cut short and is left out; its run counts as lost");
  }
  if (!queue_.exists() && content().entries.empty() && !may_be_empty) {
    throw Error{ErrorKind::not_found, fmt::format("there is no queue.yaml in {}", in_quotes(folder.string())),
                "write the commands in it, each after a dash; docs/sweep.md has examples"};
  }
  for (const KnownRun& known : content().runs) {
    if (known.ended) {
      count(*known.ended);
    }
  }
  finish_interrupted_move();
}

// An entry that is in the ledger may still be in the queue's file, if the process was killed between the two.
void SweepBook::finish_interrupted_move() {
  if (content().entries.empty() || content().entries.back().moved) {
    return;
  }
  const EntryTaken& taken = content().entries.back().taken;
  queue_.refresh();
  if (queue_.first() != nullptr && queue_.sum() == taken.queue) {
    queue_.move_first(QueueFile::Move::again);
  }
  ledger_.append(EntryMoved{.entry = taken.entry});
}

void SweepBook::count(const RunEnded& ended) {
  switch (ended.outcome) {
    case Outcome::done:
      ++done_;
      break;
    case Outcome::failed:
      ++failed_;
      break;
    case Outcome::lost:
      ++lost_;
      break;
  }
}

void SweepBook::end(const RunEnded& ended) {
  ledger_.append(ended);
  count(ended);
  all_done_ = all_done_ && ended.outcome == Outcome::done;
  listener_.ended(content().runs[ended.run - 1]);
}

bool SweepBook::take_entry(const std::optional<std::vector<std::string>>& broadcast,
                           const std::function<void(const QueueEntry&)>& check) {
  const QueueFile::Lock lock = queue_.lock();
  if (!lock) {
    if (!std::exchange(queue_is_locked_, true)) {
      listener_.warn("queue.lock is held, so nothing more is taken from the queue until it is free");
    }
    return false;
  }
  queue_is_locked_ = false;
  queue_.refresh();
  const QueueEntry* const first = queue_.first();
  if (first == nullptr) {
    return false;
  }
  std::string why;
  std::string advice;
  try {
    check(*first);
  } catch (const Error& error) {
    why = error.message();
    advice = error.advice();
  }
  if (!why.empty()) {
    throw Error{ErrorKind::corrupt_data,
                fmt::format("the first entry of {}: {}", (folder_ / "queue.yaml").string(), why), advice};
  }
  const std::uint64_t number = content().entries.size() + 1;
  ledger_.append(EntryTaken{.entry = number,
                            .broadcast = broadcast.has_value(),
                            .queue = queue_.sum(),
                            .content = *first,
                            .labels = broadcast.value_or(std::vector<std::string>{})});
  queue_.move_first();
  ledger_.append(EntryMoved{.entry = number});
  return true;
}

void SweepBook::show_progress(std::size_t under_way, std::size_t rest_of_entry) {
  listener_.progress(fmt::format("{} runs done, {} failed, {} lost; {} under way, {} to come", done_, failed_, lost_,
                                 under_way, rest_of_entry + queue_.runs()));
}

void check_settings(const QueueEntry& entry) {
  const EntrySettings& settings = entry.settings;
  if (settings.gpus == 0 && (!settings.power_limits.empty() || !settings.clocks.empty())) {
    throw Error{ErrorKind::invalid_argument, "an entry asks for power limits or clocks, and for no GPU",
                "say how many GPUs each run has: `zeus: {gpus: 1}`"};
  }
  const run::ProgressPatterns patterns{{.metric = settings.metric_regex, .epoch = settings.epoch_regex, .step = ""}};
}

}  // namespace zeus::sweep
