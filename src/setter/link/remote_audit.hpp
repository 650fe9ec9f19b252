// The audit log, which the setter writes. Any thread.
#pragma once

#include "setter/link/channel.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

namespace zeus::setter {

// A call that was refused before it reached a GPU.
struct RefusedCall {
  std::string who;
  std::string what;
  std::string asked;
  std::string outcome;
};

class RemoteAudit {
 public:
  explicit RemoteAudit(Channel channel) : channel_{std::move(channel)} {}

  // Does not wait: if the setter is far behind, the line is only counted, and the next one has the number.
  void write_refusal(RefusedCall call);
  // Opens the file again, after it was moved away; an Error if that fails.
  void reopen();

 private:
  const Channel channel_;
  std::mutex mutex_;  // of reopen()
  std::atomic<std::uint64_t> dropped_{0};
};

}  // namespace zeus::setter
