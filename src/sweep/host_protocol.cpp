#include "sweep/host_protocol.hpp"

#include "records/json_reader.hpp"
#include "records/json_writer.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace zeus::sweep {

namespace {

constexpr std::size_t longest_message = std::size_t{64} << 20;

// How many of the last letters of `text` begin `mark`.
std::size_t begun(std::string_view text, std::string_view mark) {
  for (std::size_t size = std::min(text.size(), mark.size() - 1); size > 0; --size) {
    if (text.ends_with(mark.substr(0, size))) {
      return size;
    }
  }
  return 0;
}

}  // namespace

RunOrder order_for(const EntrySettings& settings, const Task& task, const std::string& command, const std::string& key,
                   const std::string& version) {
  return {.version = version,
          .key = key,
          .command = command,
          .gpus = settings.gpus,
          .power_limit = task.power_limit,
          .clock = task.clock,
          .settle = settings.settle,
          .metric_regex = settings.metric_regex,
          .epoch_regex = settings.epoch_regex,
          .output = ""};
}

std::string order_line(const RunOrder& order) {
  std::string line = records::json_line(order) + '\n';
  if (line.size() > longest_order) {
    throw Error{ErrorKind::invalid_argument, fmt::format("a command has more than {} bytes", longest_order),
                "put it in a script"};
  }
  return line;
}

RunOrder parse_order(std::string_view line) {
  return records::record_from_json<RunOrder>(
      line, {.refusal = "this is not an order of a sweep", .advice = "`zeus sweep queue` starts this command"});
}

void judge(const Ended& ended, RunEnded& end) {
  const int exit = ended.figures.exit_code.value_or(0);
  if (!ended.why_not_run.empty()) {
    end.outcome = Outcome::failed;
    end.why = ended.why_not_run;
  } else {
    end.outcome = exit == 0 ? Outcome::done : Outcome::failed;
    end.why = exit == 0 ? "" : fmt::format("its command exited with {}", exit);
  }
}

std::string message_bytes(const std::string& key, const HostMessage& message) {
  return '\n' + key + ' ' + records::json_line(message) + '\n';
}

void MessageSplitter::take(std::string_view bytes, const std::function<void(std::string_view)>& output) {
  pending_ += bytes;
  while (true) {
    const std::size_t at = pending_.find(mark_);
    if (at == std::string::npos) {
      const std::size_t kept = begun(pending_, mark_);
      if (pending_.size() > kept) {
        output(std::string_view{pending_}.substr(0, pending_.size() - kept));
        pending_.erase(0, pending_.size() - kept);
      }
      return;
    }
    if (at > 0) {
      output(std::string_view{pending_}.substr(0, at));
      pending_.erase(0, at);
    }
    const std::size_t end = pending_.find('\n', mark_.size());
    if (end == std::string::npos && pending_.size() < longest_message) {
      return;
    }
    const std::size_t whole = end == std::string::npos ? pending_.size() : end + 1;
    const std::string_view json = std::string_view{pending_}.substr(mark_.size(), whole - mark_.size());
    try {
      messages_.push_back(
          records::record_from_json<HostMessage>(json, {.refusal = "this is not a message of a run", .newer = true}));
    } catch (const Error&) {
      output(std::string_view{pending_}.substr(0, whole));
    }
    pending_.erase(0, whole);
  }
}

void MessageSplitter::finish(const std::function<void(std::string_view)>& output) {
  if (!pending_.empty()) {
    output(pending_);
    pending_.clear();
  }
}

std::vector<HostMessage> MessageSplitter::messages() {
  return std::exchange(messages_, {});
}

}  // namespace zeus::sweep
