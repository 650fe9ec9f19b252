#include "daemon/power_stream.hpp"

#include "protocol/event_stream.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace zeus::daemon {

namespace {

// The promise is one second; the rest is for a busy machine.
constexpr Seconds longest_silence{0.8};

}  // namespace

PowerStream::PowerStream(Loop& loop, Seconds period, Read read) : loop_{loop}, period_{period}, read_{std::move(read)} {
}

transport::Headers PowerStream::headers() {
  return {{"content-type", std::string{protocol::event_stream_type}}, {"cache-control", "no-cache"}};
}

void PowerStream::add(std::shared_ptr<transport::Stream> listener) {
  new_.push_back(std::move(listener));
  if (!next_) {
    poll(loop_.clock().now());
  }
}

void PowerStream::end_all() {
  for (std::vector<std::shared_ptr<transport::Stream>>* const all : {&listeners_, &new_}) {
    for (const auto& listener : *all) {
      listener->end();
    }
    all->clear();
  }
}

void PowerStream::tick(Instant now) {
  if (!next_) {
    return;
  }
  if (now < *next_) {
    loop_.wake_by(*next_);
    return;
  }
  std::erase_if(listeners_, [](const auto& one) { return one->is_over(); });
  std::erase_if(new_, [](const auto& one) { return one->is_over(); });
  if (listeners() == 0) {
    next_.reset();
    last_.reset();
    return;
  }
  poll(now);
}

void PowerStream::poll(Instant now) {
  // Keeps the rhythm, unless it would have to catch up.
  next_ = next_ && now - *next_ < period_ ? *next_ + period_ : now + period_;
  loop_.wake_by(*next_);
  if (!is_reading_) {
    is_reading_ = true;
    read_([this](const Sample& sample) {
      is_reading_ = false;
      tell(sample);
    });
  } else if (now - last_told_ >= longest_silence) {
    tell({.is_known = false, .value = {}, .event = "the device has not answered yet"});
  }
}

void PowerStream::tell(const Sample& sample) {
  const Instant now = loop_.clock().now();
  const auto text = std::make_shared<const std::string>(sample.is_known ? protocol::event_text(sample.event)
                                                                        : protocol::comment_text(sample.event));
  const bool to_all = sample.is_known ? sample.value != last_ || now - last_told_ >= longest_silence
                                      : now - last_told_ >= longest_silence;
  if (to_all) {
    for (const auto& listener : listeners_) {
      listener->offer(text);
    }
    last_told_ = now;
  }
  last_ = sample.is_known ? std::optional{sample.value} : std::nullopt;
  if (sample.is_known) {
    for (const auto& listener : new_) {
      listener->offer(text);
    }
    listeners_.insert(listeners_.end(), std::make_move_iterator(new_.begin()), std::make_move_iterator(new_.end()));
    new_.clear();
  } else if (to_all) {
    for (const auto& listener : new_) {
      listener->offer(text);
    }
  }
}

}  // namespace zeus::daemon
