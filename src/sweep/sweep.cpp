#include "sweep/sweep.hpp"

#include "base/file_tree.hpp"
#include "base/piped_process.hpp"
#include "base/printable.hpp"
#include "base/random_id.hpp"
#include "sweep/command_filling.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <exception>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>
#include <variant>

namespace zeus::sweep {

namespace {

// How often the queue is looked at, if there is nothing else to wait for.
constexpr int look_at_queue_ms = 500;
// After this long, runs that were asked to end are given up.
constexpr Seconds longest_end{40};
constexpr std::size_t longest_line = 10'000;

// Those of the entry count before those of the host.
std::vector<Parameter> joined(const std::vector<Parameter>& of_task, const std::vector<Parameter>& of_place) {
  std::vector<Parameter> all = of_task;
  for (const Parameter& parameter : of_place) {
    if (find_parameter(of_task, parameter.name) == nullptr) {
      all.push_back(parameter);
    }
  }
  return all;
}

// Whether the broadcast is for the place: hosts that are listed later have no part in it. Older ledgers do not have its
// labels; those where something began stand for them.
bool is_for(const KnownEntry& entry, const std::string& label) {
  if (!entry.taken.labels.empty()) {
    return std::ranges::find(entry.taken.labels, label) != entry.taken.labels.end();
  }
  return entry.begun.empty() || std::ranges::any_of(entry.begun, [&](const auto& one) { return one.second == label; });
}

std::string why_it_is_lost(int code, const std::string& errors) {
  const std::size_t begin = errors.find_first_not_of(" \t\r\n");
  std::string said = begin == std::string::npos ? "" : errors.substr(begin);
  said = said.substr(0, said.find_last_not_of(" \t\r\n") + 1);
  const std::string tail = said.empty() ? "" : ": " + printable(shortened(said, 400));
  return code == 255 ? "the connection to its host ended" + tail
                     : fmt::format("its process at the host ended with code {} and no result{}", code, tail);
}

}  // namespace

struct Sweep::Running {
  std::uint64_t run = 0;
  std::string label;
  int slots = 1;
  std::unique_ptr<PipedProcess> process;
  MessageSplitter splitter;
  FileDescriptor log;
  std::string log_name;
  std::string line;  // the last one, which is not over yet
  std::optional<Ended> ended;

  explicit Running(const std::string& key) : splitter{key} {}
};

Sweep::Sweep(SweepOptions options, const Engine& engine, const Environment& environment, Clock& clock,
             std::string version, SweepListener& listener)
    : options_{std::move(options)},
      engine_{engine},
      environment_{environment},
      clock_{clock},
      version_{std::move(version)},
      listener_{listener} {
}

Sweep::~Sweep() = default;

void Sweep::open_hosts() {
  const std::filesystem::path file = std::filesystem::absolute(options_.folder) / "hosts.yaml";
  const std::optional<std::string> text = FileTree{}.read(file.string());
  if (!text) {
    throw Error{ErrorKind::not_found, fmt::format("there is no {}", file.string()),
                "list the hosts in it, each after a dash; docs/sweep.md has examples"};
  }
  std::vector<Place> places = parse_hosts(file.string(), *text);
  for (const auto& [host, problem] : engine_.problems(places)) {
    listener_.warn(fmt::format("the host {} is left out: {}", host, problem));
    all_well_ = false;
    std::erase_if(places, [&host = host](const Place& place) { return place.host == host; });
  }
  if (places.empty()) {
    throw Error{ErrorKind::unavailable, "no host can be used", "the queue is as it was"};
  }
  for (Place& place : places) {
    seats_.push_back({.place = std::move(place)});
  }
}

// Runs that an earlier process of this sweep has started: they ended with it, and nothing knows how.
void Sweep::settle_the_past() {
  for (const KnownRun& known : book_->content().runs) {  // an end adds none
    if (known.ended) {
      continue;
    }
    if (book_->content().array_of(known.started.run) != nullptr) {
      throw Error{ErrorKind::conflict, fmt::format("run {} is in Slurm", known.started.run),
                  "`zeus sweep queue --engine slurm` goes on with it"};
    }
    book_->end(
        {.run = known.started.run, .outcome = Outcome::lost, .why = "the sweep ended before it did", .figures = {}});
  }
}

bool Sweep::is_finished(const KnownEntry& entry) const {
  if (!entry.taken.broadcast || (!options_.broadcast && entry.next_task >= entry.tasks)) {
    return entry.next_task >= entry.tasks;
  }
  return std::ranges::all_of(seats_, [&](const Seat& seat) {
    const std::string& label = seat.place.label;
    for (std::size_t task = 0; task < entry.tasks && is_for(entry, label); ++task) {
      if (!entry.begun.contains({task, label})) {
        return false;
      }
    }
    return true;
  });
}

const KnownEntry* Sweep::current_entry() {
  const std::vector<KnownEntry>& entries = book_->content().entries;
  while (first_unfinished_ < entries.size() && is_finished(entries[first_unfinished_])) {
    ++first_unfinished_;
  }
  return first_unfinished_ < entries.size() ? &entries[first_unfinished_] : nullptr;
}

void Sweep::check(const QueueEntry& entry) const {
  check_settings(entry);
  const std::size_t per_command = task_count(entry) / entry.commands.size();
  for (std::size_t command = 0; command < entry.commands.size(); ++command) {
    const Task task = task_at(entry, command * per_command);
    for (const Seat& seat : seats_) {
      (void)filled(task.command, joined(task.parameters, seat.place.parameters));
    }
  }
  int most = 0;
  for (const Seat& seat : seats_) {
    most = options_.broadcast && most > 0 ? std::min(most, seat.place.slots) : std::max(most, seat.place.slots);
  }
  for (const ParameterList& list : entry.parameters) {
    for (const std::string& value : list.values) {
      if (list.name == "slots" && parse_slots(value) > most) {
        throw Error{ErrorKind::invalid_argument,
                    fmt::format("an entry asks for {} slots, and no host has more than {}", value, most),
                    "give the host `slots` in hosts.yaml"};
      }
    }
  }
}

std::optional<std::vector<std::string>> Sweep::labels_of_broadcast() const {
  if (!options_.broadcast) {
    return std::nullopt;
  }
  std::vector<std::string> labels;
  std::ranges::transform(seats_, std::back_inserter(labels), [](const Seat& seat) { return seat.place.label; });
  return labels;
}

bool Sweep::has_room(const Seat& seat, int slots) const {
  return seat.taken + slots <= seat.place.slots && !doubts_.contains(seat.place.host);
}

void Sweep::fill() {
  while (!stopping_) {
    const KnownEntry* entry = current_entry();
    if (entry == nullptr) {
      const bool any_free = std::ranges::any_of(seats_, [this](const Seat& seat) { return has_room(seat, 1); });
      if (!any_free || (options_.broadcast && !(running_.empty() && doubts_.empty())) ||
          !book_->take_entry(labels_of_broadcast(), [this](const QueueEntry& first) { check(first); })) {
        return;
      }
      continue;
    }
    if (!(entry->taken.broadcast ? fill_broadcast(*entry) : fill_from(*entry))) {
      return;
    }
  }
}

// Starts the next task of the entry, if a host is free for it.
bool Sweep::fill_from(const KnownEntry& entry) {
  const std::size_t index = entry.next_task;
  const int slots = task_at(entry.taken.content, index).slots;
  const auto seat = std::ranges::find_if(seats_, [&](const Seat& one) { return has_room(one, slots); });
  if (seat == seats_.end()) {
    if (running_.empty() && doubts_.empty()) {
      throw Error{ErrorKind::invalid_argument,
                  fmt::format("the next run needs {} slots, and no host that can be used has so many", slots),
                  "give a host `slots` in hosts.yaml"};
    }
    return false;
  }
  start(entry, index, *seat);
  return true;
}

// Starts one run of the first task that some host has not begun, once every run of the tasks before it has ended.
bool Sweep::fill_broadcast(const KnownEntry& entry) {
  for (std::size_t task = 0; task < entry.tasks; ++task) {
    bool has_doubts = false;
    for (Seat& seat : seats_) {
      if (entry.begun.contains({task, seat.place.label}) || !is_for(entry, seat.place.label)) {
        continue;
      }
      if (doubts_.contains(seat.place.host)) {
        has_doubts = true;
        continue;
      }
      const auto is_of_this_task = [&](const std::unique_ptr<Running>& one) {
        const RunStarted& started = book_->content().runs[one->run - 1].started;
        return started.entry == entry.taken.entry && started.task == task;
      };
      if (!std::ranges::all_of(running_, is_of_this_task)) {
        return false;
      }
      start(entry, task, seat);
      return true;
    }
    if (has_doubts) {
      return false;
    }
  }
  return false;
}

void Sweep::start(const KnownEntry& entry, std::size_t task_index, Seat& seat) {
  const Task task = task_at(entry.taken.content, task_index);
  const std::string key = random_id();
  RunStarted started{.run = book_->next_run(),
                     .entry = entry.taken.entry,
                     .task = task_index,
                     .place = seat.place.label,
                     .host = seat.place.host,
                     .command = task.command,
                     .parameters = joined(task.parameters, seat.place.parameters),
                     .at = static_cast<double>(clock_.wall().microseconds_since_epoch) * 1e-6};
  std::string order;
  std::string why_not;
  try {
    started.command = filled(task.command, started.parameters);
    order = order_line(order_for(entry.taken.content.settings, task, started.command, key, version_));
  } catch (const Error& error) {
    why_not = error.what();
  }
  book_->begin(started);
  if (why_not.empty()) {
    try {
      running_.push_back(begin(started, task.slots, order, key, seat.place));
      seat.taken += task.slots;
      return;
    } catch (const Error& error) {
      why_not = error.what();
      stopping_ = true;  // the next one would fare no better
    }
  }
  stopping_ = stopping_ || options_.stop_at_failure;
  book_->end({.run = started.run, .outcome = Outcome::failed, .why = why_not, .figures = {}});
}

std::unique_ptr<Sweep::Running> Sweep::begin(const RunStarted& started, int slots, const std::string& order,
                                             const std::string& key, const Place& place) const {
  auto running = std::make_unique<Running>(key);
  running->run = started.run;
  running->label = place.label;
  running->slots = slots;
  const std::filesystem::path folder = options_.folder / "output";
  std::error_code ignored;  // opening a file there says it better
  std::filesystem::create_directories(folder, ignored);
  running->log_name = (folder / fmt::format("{:06}.log", started.run)).string();
  running->log = FileDescriptor{::open(running->log_name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
  if (!running->log) {
    throw system_failure(errno, fmt::format("cannot write {}", running->log_name));
  }
  running->process = std::make_unique<PipedProcess>(engine_.command(place), environment_, order);
  return running;
}

// What a full disk has no room for is left out; the run itself goes on.
void Sweep::write_log(Running& running, std::string_view bytes) {
  if (!running.log) {
    return;
  }
  try {
    write_all(running.log, bytes, running.log_name);
  } catch (const Error& error) {
    listener_.warn(fmt::format("the rest of the output of run {} is not kept: {}", running.run, error.what()));
    running.log.close();
  }
}

void Sweep::read(Running& running) {
  const auto output = [&](std::string_view bytes) {
    write_log(running, bytes);
    for (const char letter : bytes) {
      if (letter == '\n' || running.line.size() >= longest_line) {
        listener_.line(running.label, running.line);
        running.line.clear();
      }
      if (letter != '\n') {
        running.line += letter;
      }
    }
  };
  running.process->read([&](std::string_view bytes) { running.splitter.take(bytes, output); });
  for (HostMessage& message : running.splitter.messages()) {
    if (const auto* waiting = std::get_if<Waiting>(&message)) {
      listener_.warn(fmt::format("run {} on {} waits: {}", running.run, running.label, printable(waiting->what)));
    } else {
      running.ended = std::get<Ended>(std::move(message));
    }
  }
}

void Sweep::finish(std::size_t index) {
  Running& running = *running_[index];
  read(running);
  const std::optional<int> code = running.process->exit_code();
  if (!code) {
    return;
  }
  running.splitter.finish([&](std::string_view bytes) { write_log(running, bytes); });
  if (!running.line.empty()) {
    listener_.line(running.label, running.line);
  }
  RunEnded end{.run = running.run, .outcome = Outcome::lost, .why = "", .figures = {}};
  if (running.ended) {
    end.figures = running.ended->figures;
  }
  if (ending_ && (!running.ended || running.ended->cut)) {
    end.why = "the sweep was told to end";
  } else if (!running.ended) {
    end.why = why_it_is_lost(*code, running.process->last_errors());
  } else {
    judge(*running.ended, end);
  }
  if (const auto seat = std::ranges::find(seats_, running.label, [](const Seat& one) { return one.place.label; });
      seat != seats_.end()) {
    seat->taken -= running.slots;
  }
  const std::string label = running.label;
  running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(index));
  book_->end(end);
  stopping_ = stopping_ || (options_.stop_at_failure && end.outcome != Outcome::done);
  if (end.outcome == Outcome::lost && !stopping_) {
    doubt_host(label);
  }
}

// A host that is gone would otherwise lose the whole queue, one run after the other. It is asked beside the runs of the
// others: a command whose output is not read would wait.
void Sweep::doubt_host(const std::string& label) {
  const auto seat = std::ranges::find(seats_, label, [](const Seat& one) { return one.place.label; });
  if (seat != seats_.end() && !doubts_.contains(seat->place.host)) {
    // If there is no thread for it, it is asked when the answer is taken.
    doubts_.emplace(seat->place.host, std::async([this, place = seat->place] { return engine_.problems({place}); }));
  }
}

void Sweep::give_up_hosts_that_are_away() {
  for (auto doubt = doubts_.begin(); doubt != doubts_.end();) {
    if (doubt->second.wait_for(std::chrono::seconds{0}) == std::future_status::timeout) {
      ++doubt;
      continue;
    }
    for (const auto& [host, problem] : doubt->second.get()) {
      listener_.warn(fmt::format("the host {} is left out from here on: {}", host, problem));
      std::erase_if(seats_, [&host = host](const Seat& one) { return one.place.host == host; });
    }
    doubt = doubts_.erase(doubt);
  }
  if (seats_.empty() && !stopping_) {
    stopping_ = true;
    listener_.warn("no host is left; the rest of the queue is as it was");
  }
}

void Sweep::end_runs() {
  if (!ending_) {
    ending_ = clock_.now();
    for (const std::unique_ptr<Running>& running : running_) {
      running->process->close_input();
    }
  }
}

void Sweep::heed_signals(const FileDescriptor& signals) {
  signalfd_siginfo came{};
  while (::read(signals.get(), &came, sizeof came) == sizeof came) {
    stopping_ = true;
    all_well_ = false;
    if (came.ssi_signo == SIGINT && !std::exchange(interrupted_, true)) {
      listener_.warn(fmt::format(
          "nothing more is started; {} runs go on to their end, which a second Ctrl-C cuts short", running_.size()));
    } else {
      end_runs();
    }
  }
}

void Sweep::wait(const FileDescriptor& signals) {
  std::vector<pollfd> watched{{.fd = signals.get(), .events = POLLIN, .revents = 0}};
  for (const std::unique_ptr<Running>& running : running_) {
    for (const int descriptor :
         {running->process->output().get(), running->process->errors().get(), running->process->end().get()}) {
      watched.push_back({.fd = descriptor, .events = POLLIN, .revents = 0});
    }
  }
  if (::poll(watched.data(), watched.size(), look_at_queue_ms) <= 0) {
    return;
  }
  for (std::size_t index = running_.size(); index > 0; --index) {
    const pollfd* const its = &watched[1 + 3 * (index - 1)];
    if (its[2].revents != 0) {
      finish(index - 1);
    } else if (its[0].revents != 0 || its[1].revents != 0) {
      read(*running_[index - 1]);
    }
  }
  if (watched.front().revents != 0) {
    heed_signals(signals);
  }
}

void Sweep::show_progress() {
  const KnownEntry* const entry = current_entry();
  const std::size_t of_entry = entry != nullptr && !entry->taken.broadcast ? entry->tasks - entry->next_task : 0;
  book_->show_progress(running_.size(), of_entry);
}

bool Sweep::run(const FileDescriptor& signals) {
  allow_many_descriptors();  // each run needs five
  book_ = std::make_unique<SweepBook>(options_.folder, listener_, options_.wait_for_entries);
  open_hosts();
  settle_the_past();
  std::exception_ptr failure;
  while (true) {
    give_up_hosts_that_are_away();
    try {
      fill();
    } catch (const Error&) {
      failure = failure ? failure : std::current_exception();
      stopping_ = true;
    }
    show_progress();
    if (running_.empty() &&
        (stopping_ || (doubts_.empty() && !options_.wait_for_entries && !book_->queue_is_locked()))) {
      break;
    }
    if (ending_ && clock_.now() - *ending_ > longest_end) {
      std::ranges::for_each(running_, [](const auto& running) { running->process->kill(); });
    }
    try {
      wait(signals);
    } catch (const Error&) {  // what comes of the runs cannot be written down
      failure = failure ? failure : std::current_exception();
      stopping_ = true;
      end_runs();
    }
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
  return all_well_ && book_->all_done();
}

}  // namespace zeus::sweep
