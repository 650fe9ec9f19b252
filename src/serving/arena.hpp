// A page on which two served models answer one prompt without their names. Its visitor votes for the better answer,
// then sees the names, and what each took in tokens, time and joules, and votes again: was the better one worth it?
// docs/llm.md has the rules.
//
// Threads: made and destroyed on the loop's thread, or while the loop does not run. The models are asked and votes are
// written on two others. The arguments outlive it.
#pragma once

#include "base/clock.hpp"
#include "base/file_descriptor.hpp"
#include "serving/answer.hpp"
#include "serving/http_traffic.hpp"
#include "serving/votes.hpp"
#include "transport/event_loop.hpp"
#include "transport/http.hpp"
#include "transport/server.hpp"
#include "transport/workers.hpp"

#include <zeus/measure.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace zeus::serving {

struct ArenaSide {
  std::string url;
  HttpPlan plan;
  Monitor* monitor = nullptr;  // of the server's GPUs
};

struct ArenaPlan {
  std::array<ArenaSide, 2> sides;  // a and b
  bool at_once = false;            // they have no GPU in common; otherwise one answers after the other
  std::uint64_t seed = 0;          // of the places of the answers
};

class Arena {
 public:
  Arena(transport::EventLoop& loop, Clock& clock, ArenaPlan plan, VoteFile& votes);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  // Cuts the answers that are under way.
  ~Arena();

  void accept_on(FileDescriptor listener) { server_.accept_on(std::move(listener)); }

 private:
  struct Comparison;
  struct Sending;
  void handle(const std::shared_ptr<transport::Exchange>& exchange);
  void ask_both(const std::shared_ptr<transport::Exchange>& exchange);
  void compare(Sending& to, const std::string& prompt);
  Answer answer(Sending& to, std::size_t side, std::size_t place, const std::string& prompt, JudgedAnswer& judged);
  transport::Answer take_vote(const transport::Request& request);

  Clock* clock_;
  ArenaPlan plan_;
  VoteFile* votes_;
  std::atomic<bool> ends_{false};
  std::atomic<std::uint64_t> asked_{0};
  std::atomic<int> under_way_{0};
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Comparison>> comparisons_;  // by ID
  std::deque<std::string> in_order_;                                // the IDs, oldest first
  transport::HttpServer server_;
  transport::Workers workers_;  // may still answer while they end
};

std::string arena_page();

}  // namespace zeus::serving
