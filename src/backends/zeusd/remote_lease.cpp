#include "backends/zeusd/remote_lease.hpp"

#include "base/log.hpp"
#include "device/inventory.hpp"
#include "protocol/error_body.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace zeus::backends::zeusd {

using protocol::Status;

namespace {

constexpr Seconds between_looks{0.5};
constexpr Seconds longest_restart{3};
constexpr Seconds patience_with_restart{10};
constexpr Seconds between_tries{0.1};
// Limits of the daemon.
constexpr Seconds shortest_term{1};
constexpr Seconds longest_term{3600};

bool is(const transport::Answer& answer, Status status) {
  return answer.status == static_cast<int>(status);
}

std::string whole(double value) {
  return fmt::format("{:.0f}", std::clamp(std::round(value), 0.0, 4294967295.0));
}

}  // namespace

RemoteLease::RemoteLease(std::shared_ptr<DaemonLink> link, device::DiscoveredGpu gpu, Seconds term,
                         control::Lends lends, control::LessorPatience patience)
    : link_{std::move(link)},
      gpu_{std::move(gpu)},
      name_{to_text(gpu_)},
      term_{std::clamp(term, shortest_term, longest_term)},
      lends_{lends},
      patience_{patience} {
  try {
    take();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::not_found && error.kind() != ErrorKind::invalid_argument) {
      throw;
    }
    // A daemon that was restarted may number its GPUs differently.
    link_->discover_in_passing();
    take();
  }
}

void RemoteLease::take() {
  const protocol::DiscoveryAnswer& known = *link_->known();
  const std::optional<std::uint32_t> number = link_->gpu_number(gpu_.gpu->identity().uuid);
  if (!number) {
    throw Error{ErrorKind::unavailable, fmt::format("{} has no {} any more", link_->name(), name_),
                "`zeus devices` lists what is there"};
  }
  const Instant asked = link_->clock().now();
  const transport::Answer answer = ask_of_gpu(*number, "POST", "/v1/leases/take",
                                              {{"gpu_ids", std::to_string(*number)},
                                               {"term_s", fmt::format("{:.3f}", term_.value())},
                                               {"lends", lends_ == control::Lends::to_descendants ? "true" : "false"}});
  if (is(answer, Status::conflict)) {
    std::string holder;
    try {
      holder = protocol::to_text(protocol::read_answer<protocol::Conflict>(answer.body).holder);
    } catch (const Error&) {  // no lease of the daemon: its answer says what holds the GPU
      throw link_->refusal(answer, number);
    }
    throw Error{ErrorKind::conflict, fmt::format("{} is leased by {}", name_, holder),
                "wait until it is released, or go on without setting it"};
  }
  if (!is(answer, Status::ok)) {
    throw link_->refusal(answer, number);
  }
  id_ = protocol::read_answer<protocol::LeaseAnswer>(answer.body).id;
  number_ = *number;
  instance_ = known.zeusd ? known.zeusd->instance : "";
  renewed(asked);
}

void RemoteLease::renewed(Instant asked) {
  ends_ = asked + term_;
  renew_at_ = asked + term_ / 2;
  look_at_ = std::min(renew_at_, asked + between_looks).nanoseconds;
}

Error RemoteLease::overdue() const {
  if (link_->clock().now() >= ends_) {
    return {ErrorKind::timeout,
            fmt::format("the lease of {} was not renewed for {:.6g} s, and what it had set was put back", name_,
                        term_.value()),
            "take another one, or go on without it if another process has the GPU now"};
  }
  return {ErrorKind::timeout,
          fmt::format("{} has ended the lease of {}, and what it had set was put back", link_->name(), name_),
          "the node's policy or its administrator ended it; go on without it"};
}

void RemoteLease::end(const Error& why) {
  // A conflict is reported once; after that, the lease is over like any other.
  over_ = why.kind() == ErrorKind::conflict ? overdue() : why;
  throw Error{why};
}

void RemoteLease::require_ours() {
  if (released_) {
    throw Error{ErrorKind::invalid_argument, fmt::format("the lease of {} has been released", name_),
                "take another one"};
  }
  if (over_) {
    throw Error{*over_};
  }
}

// The daemon was restarted, so what was set has been put back.
void RemoteLease::take_again() {
  try {
    take();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::conflict || error.kind() == ErrorKind::permission_denied) {
      end(error);
    }
    throw;
  }
  again_due_ = true;
  set_again();
}

void RemoteLease::set_again() {
  std::vector<std::string> again;
  for (const Setting& setting : settings_) {
    const transport::Answer answer = ask_of_lease("POST", setting.path, setting.query);
    if (is(answer, Status::ok)) {
      again.push_back(setting.what);
    } else {
      log::warning(fmt::format("{} could not be set again on {}: {}", setting.what, name_,
                               link_->refusal(answer, number_).what()));
    }
  }
  again_due_ = false;
  log::warning(fmt::format("{} was restarted: the lease of {} was taken again{}{}", link_->name(), name_,
                           again.empty() ? "" : ", and set again: ", fmt::join(again, ", ")));
}

transport::Answer RemoteLease::ask_of_gpu(std::uint32_t number, std::string_view method, std::string_view path,
                                          const Query& query, bool is_owed) {
  transport::Answer answer =
      patience_ == control::LessorPatience::usual
          ? link_->ask(method, path, query)
          : link_->ask_in_passing(method, path, query,
                                  {.name = fmt::format("setting GPU {}", number), .is_owed = is_owed});
  if (is(answer, Status::stuck)) {
    const Error refused = link_->refusal(answer, number);
    throw control::LessorAway{ErrorKind::timeout, fmt::format("{}: {}", link_->name(), refused.message()),
                              refused.advice()};
  }
  return answer;
}

transport::Answer RemoteLease::ask_of_lease(std::string_view method, std::string_view path, const Query& setting,
                                            bool is_owed) {
  Query whole_query{{"lease", id_}};
  if (!setting.empty()) {
    whole_query.emplace_back("gpu_ids", std::to_string(number_));
  }
  whole_query.insert(whole_query.end(), setting.begin(), setting.end());
  return ask_of_gpu(number_, method, path, whole_query, is_owed);
}

transport::Answer RemoteLease::ask(std::string_view method, std::string_view path, const Query& query) {
  const bool waits = patience_ == control::LessorPatience::usual;
  const Instant until = link_->clock().now() + (waits ? patience_with_restart : Seconds{});
  while (true) {
    try {
      return ask_once(method, path, query);
    } catch (const Error& error) {
      // A daemon that is being replaced is away for a moment.
      if (error.kind() != ErrorKind::unavailable || over_ || link_->clock().now() >= until) {
        throw;
      }
      link_->clock().sleep_until(link_->clock().now() + between_tries);
    }
  }
}

transport::Answer RemoteLease::ask_once(std::string_view method, std::string_view path, const Query& query) {
  if (again_due_) {
    set_again();
  }
  transport::Answer answer = ask_of_lease(method, path, query);
  if (!is(answer, Status::not_found)) {
    return answer;
  }
  if (instance_now() == instance_) {
    end(overdue());
  }
  take_again();
  return ask_of_lease(method, path, query);
}

std::optional<protocol::GpuSettings> RemoteLease::set(Setting setting) {
  require_ours();
  const Instant asked = link_->clock().now();
  const transport::Answer answer = ask("POST", setting.path, setting.query);
  if (!is(answer, Status::ok)) {
    const Error refused = link_->refusal(answer, number_);
    if (refused.kind() == ErrorKind::timeout && link_->clock().now() >= ends_) {
      over_ = overdue();
    }
    throw Error{refused};
  }
  renewed(asked);
  std::erase_if(settings_, [&](const Setting& one) { return one.kind == setting.kind; });
  settings_.push_back(std::move(setting));
  const auto outcomes = protocol::read_answer<protocol::Outcomes>(answer.body);
  return outcomes.outcomes.empty() ? std::nullopt : outcomes.outcomes.front().enforced;
}

control::PowerSetting RemoteLease::set_power_limit(Watts limit) {
  if (!(limit > Watts{0})) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("setting the power limit {:.6g} W of {}: out of range", limit.value(), name_)};
  }
  const std::lock_guard guard{mutex_};
  const auto enforced = set({"/v1/leases/set_power_limit",
                             {{"power_limit_mw", whole(limit.value() * 1000)}},
                             fmt::format("power limit {:.6g} W", limit.value()),
                             "power"});
  const bool is_told = enforced && enforced->power_limit;
  return {limit, is_told ? Reading<Watts>{*enforced->power_limit} : Reading<Watts>{Reason::unknown}};
}

control::ClockSetting RemoteLease::lock_clocks(ClockDomain domain, ClockRange range) {
  const std::lock_guard guard{mutex_};
  const std::string word{to_string(domain)};
  const auto enforced =
      set({"/v1/leases/lock_clocks",
           {{"domain", word},
            {"min_clock_mhz", whole(range.minimum.value())},
            {"max_clock_mhz", whole(range.maximum.value())}},
           fmt::format("{} clocks {:.6g}-{:.6g} MHz", word, range.minimum.value(), range.maximum.value()),
           word});
  Reading<std::optional<ClockRange>> locked_to{Reason::unsupported};
  if (enforced && enforced->clocks && !enforced->clocks->empty()) {
    locked_to = std::optional{enforced->clocks->front().range};
  }
  const device::Clocks clocks = gpu_.gpu->clocks();
  return {range, locked_to,
          domain == ClockDomain::memory ? clocks.memory
          : domain == ClockDomain::sm   ? clocks.sm
                                        : clocks.graphics};
}

void RemoteLease::unlock_clocks(ClockDomain domain) {
  const std::lock_guard guard{mutex_};
  const std::string word{to_string(domain)};
  static_cast<void>(set({"/v1/leases/unlock_clocks", {{"domain", word}}, fmt::format("{} clocks free", word), word}));
}

Reading<bool> RemoteLease::set_persistence_mode(bool enabled) {
  const std::lock_guard guard{mutex_};
  const auto enforced = set({"/v1/leases/set_persistence_mode",
                             {{"enabled", enabled ? "true" : "false"}},
                             fmt::format("persistence mode {}", enabled ? "on" : "off"),
                             "persistence"});
  const bool is_told = enforced && enforced->persistence_mode;
  return is_told ? Reading<bool>{*enforced->persistence_mode} : Reading<bool>{Reason::unknown};
}

std::string RemoteLease::overruled() {
  const std::lock_guard guard{mutex_};
  if (released_) {
    return {};
  }
  if (over_) {
    return over_->message();
  }
  const std::string of = id_;
  transport::Answer answer;
  try {
    answer = ask("GET", "/v1/leases/overruled", {});
  } catch (const Error& error) {
    if (patience_ == control::LessorPatience::a_moment && dynamic_cast<const control::LessorAway*>(&error) != nullptr) {
      throw;
    }
    return error.message();
  }
  if (!is(answer, Status::ok)) {
    return link_->refusal(answer, number_).message();
  }
  if (id_ != of) {
    return fmt::format("{} was restarted, and has put back {} meanwhile", link_->name(), name_);
  }
  return protocol::read_answer<protocol::Overruled>(answer.body).why;
}

void RemoteLease::restore() {
  const std::lock_guard guard{mutex_};
  require_ours();
  const Instant asked = link_->clock().now();
  settings_.clear();
  const transport::Answer answer = ask("POST", "/v1/leases/restore", {});
  if (!is(answer, Status::ok)) {
    throw link_->refusal(answer, number_);
  }
  renewed(asked);
}

void RemoteLease::renew() {
  const Instant now = link_->clock().now();
  if (now.nanoseconds < look_at_.load(std::memory_order_relaxed)) {
    return;
  }
  require_this_process();
  const std::unique_lock guard{mutex_, std::try_to_lock};
  if (!guard) {
    return;  // another thread sets something, which renews as well
  }
  require_ours();
  try {
    look(now);
    away_since_.reset();
  } catch (const control::LessorAway& error) {
    look_at_ = (link_->clock().now() + between_looks).nanoseconds;
    const bool driver_hangs = error.kind() == ErrorKind::timeout;  // the daemon lives, and so does its lease
    away_since_ = driver_hangs ? std::nullopt : std::optional{away_since_.value_or(now)};
    if (driver_hangs ? now >= ends_ : now - *away_since_ >= longest_restart) {
      throw;
    }
  } catch (const Error& error) {
    if (over_ || (error.kind() != ErrorKind::unavailable && error.kind() != ErrorKind::timeout)) {
      throw;
    }
    // The daemon is too busy.
    away_since_.reset();
    look_at_ = (link_->clock().now() + between_looks).nanoseconds;
  }
}

// Of the daemon that answers now.
std::string RemoteLease::instance_now() {
  return link_->discover_in_passing().zeusd.value_or(protocol::DaemonIdentity{}).instance;
}

void RemoteLease::look(Instant now) {
  const std::string of = instance_;
  if (instance_now() != of) {
    take_again();
    return;
  }
  if (again_due_) {
    set_again();
    return;
  }
  look_at_ = std::min(now + between_looks, std::max(renew_at_, now)).nanoseconds;
  if (now < renew_at_) {
    return;
  }
  const transport::Answer answer = ask_of_lease("POST", "/v1/leases/renew", {});
  if (is(answer, Status::not_found)) {
    end(overdue());
  }
  if (!is(answer, Status::ok)) {
    throw link_->refusal(answer, number_);
  }
  renewed(now);
}

void RemoteLease::release() {
  const std::lock_guard guard{mutex_};
  if (std::exchange(released_, true) || over_) {
    return;
  }
  transport::Answer answer;
  try {
    answer = ask_of_lease("POST", "/v1/leases/release", {}, true);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::unavailable && dynamic_cast<const control::LessorAway*>(&error) == nullptr) {
      throw;
    }
    // If it is gone, so is all that it had set; if it hangs, the lease ends with its term or this process; if only the
    // driver hangs, the daemon ends the lease as soon as the driver lets it.
    return;
  }
  if (!is(answer, Status::ok) && !is(answer, Status::not_found)) {
    throw link_->refusal(answer, number_);
  }
}

}  // namespace zeus::backends::zeusd
