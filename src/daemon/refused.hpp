// Why something is not done, as an answer says it, and waiting for several devices at once. Plain values, and what
// gathers them on the loop's thread.
#pragma once

#include "daemon/device_thread.hpp"
#include "protocol/error_body.hpp"

#include <zeus/error.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace zeus::daemon {

struct Refused {
  protocol::Status status = protocol::Status::internal;
  std::string text;
};

// How it went on each device that was asked for, by its number: those that are not here were done.
using Refusals = std::map<int, Refused>;

Refused refused(const Error& error);

// Nothing where `device` ("GPU 0") has done it, and made no error of it.
std::optional<Refused> refusal_of(DeviceThread::End end, std::string_view device,
                                  const std::optional<Error>& error = std::nullopt);

// Calls `done` once it was told of all that it waits for, of which there is one at least.
class Gathered {
 public:
  Gathered(std::size_t left, std::function<void(Refusals)> done) : left_{left}, done_{std::move(done)} {}

  void add(int device, const std::optional<Refused>& why) {
    if (why) {
      refusals_[device] = *why;
    }
    if (--left_ == 0) {
      done_(std::move(refusals_));
    }
  }

 private:
  std::size_t left_;
  std::function<void(Refusals)> done_;
  Refusals refusals_;
};

}  // namespace zeus::daemon
