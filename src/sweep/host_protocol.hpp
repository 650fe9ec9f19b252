// What passes between a sweep and the part of Zeus that runs one command on a host (`zeus sweep run`): an order on its
// standard input, which then stays open for as long as the run is wanted, and messages between the lines of the
// command's output, told apart by a random key. Plain values and pure code; one thread.
#pragma once

#include "sweep/run_record.hpp"

#include <zeus/units.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace zeus::sweep {

struct RunOrder {
  std::string version;  // of the program that sends it
  std::string key;
  std::string command;
  int gpus = 0;
  std::optional<Watts> power_limit;
  std::optional<Megahertz> clock;
  Seconds settle;
  std::string metric_regex;
  std::string epoch_regex;
  std::string output;  // a file for it; empty: standard output

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("version", self.version);
    fields("key", self.key);
    fields("command", self.command);
    fields("gpus", self.gpus, field::Rule{.least = 0.0, .most = 1024.0});
    fields("power_limit", self.power_limit, field::power_above_zero);
    fields("clock", self.clock, field::above_zero);
    fields("settle", self.settle, field::duration);
    fields("metric_regex", self.metric_regex);
    fields("epoch_regex", self.epoch_regex);
    fields("output", self.output);
  }
};

// An order must fit into a pipe, so that sending it waits for no reader.
inline constexpr std::size_t longest_order = 60'000;

// It waits for GPUs that others have.
struct Waiting {
  static constexpr std::string_view kind = "waiting";
  std::string what;

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("for", self.what);
  }
};

struct Ended {
  static constexpr std::string_view kind = "ended";
  std::string why_not_run;  // or why its figures do not count; empty if the command ran
  RunFigures figures;
  bool cut = false;  // the command was made to end

  template <typename Fields, typename Self>
  static void describe(Fields& fields, Self& self) {
    fields("why_not_run", self.why_not_run);
    fields("figures", self.figures);
    fields("cut", self.cut, field::may_lack({}));
  }
};

using HostMessage = std::variant<Waiting, Ended>;

RunOrder order_for(const EntrySettings& settings, const Task& task, const std::string& command, const std::string& key,
                   const std::string& version);
// An invalid_argument Error if the command is too long.
std::string order_line(const RunOrder& order);
// A corrupt_data Error if it is not an order.
RunOrder parse_order(std::string_view line);

// The outcome of a run by its end, as its host reports it, with the reason if it is not done.
void judge(const Ended& ended, RunEnded& end);

// The bytes of a message, to be written between two writes of the command.
std::string message_bytes(const std::string& key, const HostMessage& message);

// Splits what arrives into the command's output and messages. Memory is bounded.
class MessageSplitter {
 public:
  explicit MessageSplitter(const std::string& key) : mark_{'\n' + key + ' '} {}

  // Calls `output` with each part of the command's output. A message that is not one is output, too.
  void take(std::string_view bytes, const std::function<void(std::string_view)>& output);
  // Call it when the stream is over.
  void finish(const std::function<void(std::string_view)>& output);
  // The messages since the last call.
  std::vector<HostMessage> messages();

 private:
  std::string mark_;
  std::string pending_;
  std::vector<HostMessage> messages_;
};

}  // namespace zeus::sweep
