// Why something is not done, in the form of an answer; and how to wait for several devices at once. Plain values, and
// their gathering on the loop's thread.
#pragma once

#include "daemon/device_thread.hpp"
#include "protocol/error_body.hpp"
#include "service/call.hpp"
#include "transport/http.hpp"

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

// The devices that refused, by number; those that are not here have done what was asked.
using Refusals = std::map<int, Refused>;

Refused refused(const Error& error);

// In the form that existing clients know: {"errors":{"0":"..."}}.
void refuse(service::Call& call, const Refusals& refusals);
// 200 without a body if there are none.
void done_or_refuse(service::Call& call, const Refusals& refusals);
// {"error":"..."}
transport::Answer answer_of(const Error& error);

// Empty if `device` ("GPU 0") has done it without an error.
std::optional<Refused> refusal_of(DeviceThread::End end, std::string_view device,
                                  const std::optional<Error>& error = std::nullopt);

// Calls `done` once all results that it waits for are in; there is at least one.
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
