// Who follows what: server-sent events of one job (its entries, by their sequence numbers) and of all summaries. What
// this server has written is told at once; what any other process has, within a second, by looking how long histories
// are. Where a reader stands is kept here alone: nothing of it is lost with the server, since readers say where they
// were.
//
// Threads: the loop's, but for nudge() and readers(), which are for any. The store is read by workers.
#pragma once

#include "base/clock.hpp"
#include "server/call.hpp"
#include "server/open_jobs.hpp"
#include "server/route.hpp"
#include "server/workers.hpp"
#include "store/job_store.hpp"
#include "transport/event_loop.hpp"
#include "transport/server.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace zeus::server {

class EventHub : public std::enable_shared_from_this<EventHub> {
 public:
  // What it is given outlives it; `workers` end before it.
  EventHub(transport::EventLoop& loop, Clock& clock, store::JobStore& store, OpenJobs& jobs);
  EventHub(const EventHub&) = delete;
  EventHub& operator=(const EventHub&) = delete;
  ~EventHub();

  void work_with(Workers* workers) { workers_ = workers; }

  // The entries of a job after that sequence number; from now on where none is said.
  void follow_job(const std::string& name, std::optional<std::uint64_t> after,
                  const std::shared_ptr<transport::Exchange>& exchange, const StreamTold& told);
  // Each summary that changes from now on.
  void follow_summaries(const std::shared_ptr<transport::Exchange>& exchange, const StreamTold& told);
  // This server has written to that job. Any thread.
  void nudge(const std::string& name);
  // Ends all of them, and lets nobody begin.
  void end();
  // As counted last. Any thread.
  [[nodiscard]] std::size_t readers() const { return count_; }

 private:
  struct Reader {
    std::shared_ptr<transport::Stream> stream;
    std::uint64_t position = 0;  // the last entry that it was sent
    bool is_full = false;        // until the next look
  };
  struct Feed {
    store::JobId id = 0;
    std::uint64_t length = 0;  // as known
    bool is_reading = false;
    bool is_stale = false;  // something was written while it was read
    std::vector<Reader> readers;
  };

  void begin(const std::string& name, const store::StoredJob& job, std::optional<std::uint64_t> after,
             const std::shared_ptr<transport::Exchange>& exchange, const StreamTold& told);
  void begin_to_look();
  void look();
  void take_lengths(const std::vector<store::JobLength>& lengths);
  void read(const std::string& name);
  void send(const std::string& name, const std::vector<records::JobEntry>& entries);
  // Whether somebody has not been sent all that there is, and can take more.
  [[nodiscard]] static bool is_behind(const Feed& feed);
  void send_summary(const std::shared_ptr<const std::string>& piece);
  void say_alive();
  void drop_those_who_left();
  void count_readers();
  void post(std::function<void()> work);

  transport::EventLoop& loop_;
  Clock& clock_;
  store::JobStore& store_;
  OpenJobs& jobs_;
  Workers* workers_ = nullptr;
  std::map<std::string, Feed> feeds_;
  std::vector<std::shared_ptr<transport::Stream>> summary_readers_;
  std::map<store::JobId, std::uint64_t> summarized_;  // lengths that readers of summaries know
  bool knows_lengths_ = false;
  transport::EventLoop::Watch next_look_;
  bool looks_ = false;
  bool is_looking_ = false;
  bool over_ = false;
  std::atomic<std::size_t> count_{0};
  Instant said_alive_;
};

}  // namespace zeus::server
