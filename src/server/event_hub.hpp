// Server-sent events to readers: the entries of one job, by their sequence numbers, and all changed summaries. Events
// of this server are sent at once; those of other processes within a second, found by comparing the lengths of
// histories. Readers' positions are only in memory: a reader states its position when it connects, so a restart of the
// server loses nothing.
//
// Threads: the loop's, except for nudge() and readers(), which any thread may call. Workers read the store.
#pragma once

#include "base/clock.hpp"
#include "server/open_jobs.hpp"
#include "service/call.hpp"
#include "store/job_store.hpp"
#include "transport/event_loop.hpp"
#include "transport/server.hpp"
#include "transport/workers.hpp"

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
  // The arguments must outlive it; `workers` must end before it.
  EventHub(transport::EventLoop& loop, Clock& clock, store::JobStore& store, OpenJobs& jobs);
  EventHub(const EventHub&) = delete;
  EventHub& operator=(const EventHub&) = delete;
  ~EventHub();

  void work_with(transport::Workers* workers) { workers_ = workers; }

  // The entries of a job after that sequence number, or only new ones if it is not given.
  void follow_job(const std::string& name, std::optional<std::uint64_t> after, const service::SharedCall& call);
  // Each summary that changes from now on.
  void follow_summaries(const service::SharedCall& call);
  // This server has written to that job. Any thread.
  void nudge(const std::string& name);
  // Ends the streams of those who have lost the right to them.
  void check_rights();
  // Ends all streams and accepts no more.
  void end();
  // The number at the last count. Any thread.
  [[nodiscard]] std::size_t readers() const { return count_; }

 private:
  struct Reader {
    std::shared_ptr<transport::Stream> stream;
    service::SharedCall call;
    std::uint64_t position = 0;  // the last entry sent to it
    bool is_full = false;        // until the next check
  };
  struct SummaryReader {
    std::shared_ptr<transport::Stream> stream;
    service::SharedCall call;
  };
  struct Feed {
    store::JobId id = 0;
    std::uint64_t length = 0;  // as known here
    bool is_reading = false;
    bool is_stale = false;  // entries were written while it was read
    std::vector<Reader> readers;
  };

  void begin(const std::string& name, const store::StoredJob& job, std::optional<std::uint64_t> after,
             const service::SharedCall& call);
  void begin_to_look();
  void look();
  void take_lengths(const std::vector<store::JobLength>& lengths);
  void read(const std::string& name);
  void send(const std::string& name, const std::vector<records::JobEntry>& entries);
  // Whether a reader has not been sent everything and can take more.
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
  transport::Workers* workers_ = nullptr;
  std::map<std::string, Feed> feeds_;
  std::vector<SummaryReader> summary_readers_;
  std::map<store::JobId, std::uint64_t> summarized_;  // the lengths sent to readers of summaries
  bool knows_lengths_ = false;
  transport::EventLoop::Watch next_look_;
  bool looks_ = false;
  bool is_looking_ = false;
  bool over_ = false;
  std::atomic<std::size_t> count_{0};
  Instant said_alive_;
};

}  // namespace zeus::server
