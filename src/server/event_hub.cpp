#include "server/event_hub.hpp"

#include "base/log.hpp"
#include "protocol/event_stream.hpp"
#include "records/job_summary.hpp"
#include "records/json_writer.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace zeus::server {

namespace {

constexpr Seconds between_looks_at_the_store{1.0};
constexpr Seconds between_comments{15.0};
constexpr std::size_t entries_at_once = 256;

using Piece = std::shared_ptr<const std::string>;

Piece piece(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

std::shared_ptr<transport::Stream> stream_on(service::Call& call) {
  return call.stream({{"Content-Type", std::string{protocol::event_stream_type}},
                      {"Cache-Control", "no-store"},
                      {"X-Accel-Buffering", "no"}});
}

}  // namespace

EventHub::EventHub(transport::EventLoop& loop, Clock& clock, store::JobStore& store, OpenJobs& jobs)
    : loop_{loop}, clock_{clock}, store_{store}, jobs_{jobs}, said_alive_{clock.now()} {
}

EventHub::~EventHub() = default;

// Does nothing if it runs after the hub is gone.
void EventHub::post(std::function<void()> work) {
  loop_.post([self = weak_from_this(), work = std::move(work)] {
    if (const auto still = self.lock()) {
      work();
    }
  });
}

void EventHub::follow_job(const std::string& name, std::optional<std::uint64_t> after,
                          const service::SharedCall& call) {
  const bool taken = !over_ && workers_->add(name, [this, name, after, call] {
    try {
      const std::optional<store::StoredJob> job = store_.find(name);
      if (!job) {
        throw Error{ErrorKind::not_found, fmt::format("there is no job '{}'", name), "define it first"};
      }
      post([this, name, job = *job, after, call] { begin(name, job, after, call); });
    } catch (const Error& error) {
      call->refuse(error);
    }
  });
  if (!taken) {
    call->refuse(Error{ErrorKind::unavailable, "too much waits here, or the server ends", "ask again in a moment"});
  }
}

void EventHub::begin(const std::string& name, const store::StoredJob& job, std::optional<std::uint64_t> after,
                     const service::SharedCall& call) {
  std::shared_ptr<transport::Stream> stream = stream_on(*call);
  if (over_ || !call->may_go_on()) {
    stream->end();
    return;
  }
  Feed& feed = feeds_[name];
  if (feed.id != job.id) {
    for (const Reader& reader : feed.readers) {
      reader.stream->end();
    }
    feed = {.id = job.id};
  }
  feed.length = std::max(feed.length, job.length);
  feed.readers.push_back({.stream = std::move(stream), .call = call, .position = after.value_or(job.length)});
  feed.readers.back().stream->offer(piece(protocol::comment_text("zeus")));
  count_readers();
  begin_to_look();
  read(name);
}

void EventHub::follow_summaries(const service::SharedCall& call) {
  std::shared_ptr<transport::Stream> stream = stream_on(*call);
  if (over_) {
    stream->end();
    return;
  }
  stream->offer(piece(protocol::comment_text("zeus")));
  summary_readers_.push_back({.stream = std::move(stream), .call = call});
  count_readers();
  begin_to_look();
}

void EventHub::begin_to_look() {
  if (!looks_) {
    looks_ = true;
    knows_lengths_ = false;
    look();
  }
}

void EventHub::look() {
  drop_those_who_left();
  if (over_ || (feeds_.empty() && summary_readers_.empty())) {
    looks_ = false;
    summarized_.clear();
    return;
  }
  next_look_ = loop_.after(between_looks_at_the_store, [this] { look(); });
  say_alive();
  for (auto& [name, feed] : feeds_) {
    for (Reader& reader : feed.readers) {
      reader.is_full = false;
    }
    if (is_behind(feed)) {
      read(name);
    }
  }
  if (is_looking_) {
    return;
  }
  is_looking_ = workers_->add({}, [this] {
    std::vector<store::JobLength> lengths;
    bool is_known = true;
    try {
      lengths = store_.lengths();
    } catch (const Error& error) {
      is_known = false;
      log::warning(fmt::format("what has changed is unknown for now: {}", error.what()));
    }
    post([this, lengths = std::move(lengths), is_known] {
      is_looking_ = false;
      if (is_known) {
        take_lengths(lengths);
      }
    });
  });
}

void EventHub::take_lengths(const std::vector<store::JobLength>& lengths) {
  std::map<store::JobId, std::uint64_t> now;
  std::vector<std::string> changed;
  for (const store::JobLength& job : lengths) {
    now.emplace(job.id, job.length);
    const auto known = summarized_.find(job.id);
    if (knows_lengths_ && (known == summarized_.end() || known->second != job.length)) {
      changed.push_back(job.name);
    }
    const auto feed = feeds_.find(job.name);
    if (feed != feeds_.end() && feed->second.id == job.id && feed->second.length < job.length) {
      feed->second.length = job.length;
      read(job.name);
    }
  }
  // Drops the feeds of jobs that were forgotten.
  std::erase_if(feeds_, [&](const auto& one) {
    const bool gone = !now.contains(one.second.id);
    for (const Reader& reader : one.second.readers) {
      if (gone) {
        reader.stream->end();
      }
    }
    return gone;
  });
  summarized_ = std::move(now);
  knows_lengths_ = true;
  if (summary_readers_.empty()) {
    return;
  }
  for (const std::string& name : changed) {
    workers_->add(name, [this, name] {
      try {
        const std::string text = jobs_.with(name, [](jobs::Job& job) { return records::to_json(job.summary()); });
        post([this, event = piece(protocol::event_text(text))] { send_summary(event); });
      } catch (const Error&) {  // it is gone, or is sent when it changes again
      }
    });
  }
}

void EventHub::nudge(const std::string& name) {
  post([this, name] {
    if (feeds_.contains(name)) {
      read(name);
    }
  });
}

// Reads from the position of the reader that is furthest behind and can take more.
void EventHub::read(const std::string& name) {
  const auto known = feeds_.find(name);
  if (known == feeds_.end()) {
    return;
  }
  Feed& feed = known->second;
  if (feed.is_reading) {
    feed.is_stale = true;
    return;
  }
  std::optional<std::uint64_t> from;
  for (const Reader& reader : feed.readers) {
    if (!reader.is_full && !reader.stream->is_over()) {
      from = std::min(from.value_or(reader.position), reader.position);
    }
  }
  if (!from) {
    return;
  }
  feed.is_reading = workers_->add({}, [this, name, id = feed.id, after = *from] {
    std::vector<records::JobEntry> entries;
    try {
      entries = store_.entries(id, after, entries_at_once);
    } catch (const Error& error) {
      log::warning(fmt::format("new entries cannot be read for now: {}", error.what()));
    }
    post([this, name, entries = std::move(entries)] { send(name, entries); });
  });
}

void EventHub::send(const std::string& name, const std::vector<records::JobEntry>& entries) {
  const auto known = feeds_.find(name);
  if (known == feeds_.end()) {
    return;
  }
  Feed& feed = known->second;
  feed.is_reading = false;
  bool moved = false;
  for (const records::JobEntry& entry : entries) {
    Piece event;
    for (Reader& reader : feed.readers) {
      if (reader.position + 1 != entry.sequence || reader.is_full) {
        continue;
      }
      if (!event) {
        event = piece(fmt::format("id: {}\n{}", entry.sequence, protocol::event_text(records::to_json(entry))));
      }
      if (reader.stream->offer(event)) {
        reader.position = entry.sequence;
        moved = true;
      } else {
        reader.is_full = true;
      }
    }
    feed.length = std::max(feed.length, entry.sequence);
  }
  // A failed read is repeated in a moment.
  const bool is_stale = std::exchange(feed.is_stale, false);
  if (is_stale || (moved && is_behind(feed))) {
    read(name);
  }
}

bool EventHub::is_behind(const Feed& feed) {
  return std::ranges::any_of(feed.readers, [&](const Reader& reader) {
    return !reader.is_full && reader.position < feed.length && !reader.stream->is_over();
  });
}

void EventHub::send_summary(const Piece& event) {
  for (const SummaryReader& reader : summary_readers_) {
    // A reader that does not keep up must start again with the list.
    if (!reader.stream->offer(event)) {
      reader.stream->end();
    }
  }
}

void EventHub::say_alive() {
  const Instant now = clock_.now();
  if (now - said_alive_ < between_comments) {
    return;
  }
  said_alive_ = now;
  const Piece comment = piece(protocol::comment_text("still here"));
  for (auto& [name, feed] : feeds_) {
    for (const Reader& reader : feed.readers) {
      reader.stream->offer(comment);
    }
  }
  for (const SummaryReader& reader : summary_readers_) {
    reader.stream->offer(comment);
  }
}

void EventHub::drop_those_who_left() {
  for (auto& [name, feed] : feeds_) {
    std::erase_if(feed.readers, [](const Reader& reader) { return reader.stream->is_over(); });
  }
  std::erase_if(feeds_, [](const auto& one) { return one.second.readers.empty() && !one.second.is_reading; });
  std::erase_if(summary_readers_, [](const SummaryReader& reader) { return reader.stream->is_over(); });
  count_readers();
}

void EventHub::check_rights() {
  const auto end_if_lost = [](const auto& reader) {
    const bool is_lost = !reader.call->may_go_on();
    if (is_lost) {
      reader.stream->end();
    }
    return is_lost;
  };
  for (auto& [name, feed] : feeds_) {
    std::erase_if(feed.readers, end_if_lost);
  }
  std::erase_if(summary_readers_, end_if_lost);
  drop_those_who_left();
}

void EventHub::end() {
  over_ = true;
  for (auto& [name, feed] : feeds_) {
    for (const Reader& reader : feed.readers) {
      reader.stream->end();
    }
  }
  for (const SummaryReader& reader : summary_readers_) {
    reader.stream->end();
  }
  feeds_.clear();
  summary_readers_.clear();
  count_readers();
}

void EventHub::count_readers() {
  std::size_t count = summary_readers_.size();
  for (const auto& [name, feed] : feeds_) {
    count += feed.readers.size();
  }
  count_ = count;
}

}  // namespace zeus::server
