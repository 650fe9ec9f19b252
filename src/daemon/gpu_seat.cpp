#include "daemon/gpu_seat.hpp"

#include "control/lease_client.hpp"

#include <fmt/format.h>

#include <utility>

namespace zeus::daemon {

namespace {

// What identifies the client; the setter finds out the rest.
control::LeaseClient identity_of(const Client& client) {
  control::LeaseClient identity;
  if (client.user) {
    identity.user = *client.user;
  }
  identity.token = client.token;
  if (client.process) {
    identity.process = Holder{client.process->pid, client.process->started, {}};
  }
  return identity;
}

DeviceThread::Bounds with_longest(DeviceThread::Bounds bounds, const setter::Seat& seat) {
  bounds.patience = bounds.patience + seat.longest();
  return bounds;
}

}  // namespace

GpuSeat::GpuSeat(Loop& loop, GpuAsked name, std::shared_ptr<setter::Seat> seat, DeviceThread::Bounds bounds)
    : name_{std::move(name)},
      seat_{std::move(seat)},
      thread_{loop, fmt::format("set-gpu{}", name_.number), with_longest(bounds, *seat_)} {
}

template <typename Result>
void GpuSeat::ask(Question<Result> question) {
  const auto result = std::make_shared<Result>();
  thread_.ask({.work = [seat = seat_, result, work = std::move(question.work)] { *result = work(*seat); },
               .ended =
                   [result, done = std::move(question.done), settled = std::move(question.settled),
                    was_late = false](End end) mutable {
                     if (was_late) {
                       if (settled) {
                         settled(std::move(*result));
                       }
                       return;
                     }
                     was_late = end == End::late;
                     // The call under way will still write its result.
                     done(end, end == End::done ? std::move(*result) : Result{});
                   },
               .is_wanted = std::move(question.wanted),
               .is_owed = question.is_owed});
}

void GpuSeat::take(Number lease, Seconds term, const Client& client, Wanted wanted,
                   std::function<void(End, Taken)> done) {
  ask<Taken>({.work = [lease, term,
                       identity = identity_of(client)](setter::Seat& seat) { return seat.take(lease, term, identity); },
              .wanted = std::move(wanted),
              .done = std::move(done),
              .settled = {}});
}

void GpuSeat::set(Number lease, const Setting& setting, Wanted wanted, std::function<void(End, SettingResult)> done,
                  std::function<void(SettingResult)> settled) {
  ask<SettingResult>({.work = [lease, setting](setter::Seat& seat) { return seat.set(lease, setting); },
                      .wanted = std::move(wanted),
                      .done = std::move(done),
                      .settled = std::move(settled)});
}

void GpuSeat::renew(Number lease, std::function<void(End, std::optional<Error>)> done) {
  ask<std::optional<Error>>({.work = [lease](setter::Seat& seat) { return seat.renew(lease); },
                             .wanted = {},
                             .done = std::move(done),
                             .settled = {}});
}

void GpuSeat::restore(Number lease, Wanted wanted, std::function<void(End, std::optional<Error>)> done) {
  ask<std::optional<Error>>({.work = [lease](setter::Seat& seat) { return seat.restore(lease); },
                             .wanted = std::move(wanted),
                             .done = std::move(done),
                             .settled = {}});
}

void GpuSeat::release(Number lease, const std::string& why, std::function<void(std::optional<Error>)> done) {
  ask<std::optional<Error>>(
      {.work = [lease, why](setter::Seat& seat) { return seat.release(lease, why); },
       .wanted = {},
       .done = [done = std::move(done)](End /*end*/, std::optional<Error> error) { done(std::move(error)); },
       .settled = {},
       .is_owed = true});
}

void GpuSeat::put_back_what_was_left(std::function<void(std::optional<std::string>)> done) {
  ask<std::optional<std::string>>(
      {.work = [](setter::Seat& seat) { return seat.put_back_what_was_left(); },
       .wanted = {},
       .done = [done = std::move(done)](End /*end*/, std::optional<std::string> failure) { done(std::move(failure)); },
       .settled = {},
       .is_owed = true});
}

void GpuSeat::ask_whether_overruled(Number lease, Wanted wanted, std::function<void(End, std::string)> done) {
  ask<std::string>({.work = [lease](setter::Seat& seat) { return seat.overruled(lease); },
                    .wanted = std::move(wanted),
                    .done = std::move(done),
                    .settled = {}});
}

std::string gpu_name(const GpuSeat& seat) {
  return fmt::format("GPU {}", seat.name().number);
}

}  // namespace zeus::daemon
