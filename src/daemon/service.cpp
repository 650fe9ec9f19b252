#include "daemon/service.hpp"

#include "base/log.hpp"
#include "daemon/api.hpp"
#include "protocol/device_bodies.hpp"
#include "protocol/query.hpp"
#include "protocol/wire_values.hpp"
#include "records/json_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace zeus::daemon {

using protocol::Status;
using transport::EventLoop;

// The daemon's loop over the transport's: one timer serves all parts.
class Service::RealLoop final : public Loop {
 public:
  RealLoop(EventLoop& loop, Clock& clock, std::function<void()> tick)
      : loop_{loop}, clock_{clock}, tick_{std::move(tick)} {}

  Clock& clock() override { return clock_; }
  void post(std::function<void()> work) override { loop_.post(std::move(work)); }
  void wake_by(Instant time) override {
    if (due_ && *due_ <= time) {
      return;
    }
    due_ = time;
    timer_ = loop_.after(std::max(time - clock_.now(), Seconds{0}), [this] {
      due_.reset();
      tick_();
    });
  }
  std::shared_ptr<void> when_readable(int descriptor, std::function<void()> work) override {
    return std::make_shared<EventLoop::Watch>(loop_.when_readable(descriptor, std::move(work)));
  }
  [[nodiscard]] EventLoop& events() { return loop_; }

 private:
  EventLoop& loop_;
  Clock& clock_;
  std::function<void()> tick_;
  std::optional<Instant> due_;
  EventLoop::Watch timer_;
};

namespace {

PowerStream::Read read_of(Loop& loop, GpuReader& reader) {
  return [&loop, &reader](std::function<void(PowerStream::Sample)> done) {
    reader.ask(GpuReader::power_now,
               [&loop, done = std::move(done)](GpuReader::End end, const protocol::GpuReadings& readings) {
                 if (end != GpuReader::End::done || readings.power.empty() || !readings.power.front().power.value) {
                   done({.is_known = false, .value = {}, .event = "the power of this GPU is unknown now"});
                   return;
                 }
                 const protocol::WholeMilliwatts power{*readings.power.front().power.value};
                 done({.is_known = true,
                       .value = records::json_line(power),
                       .event = records::json_line(protocol::GpuPowerEvent{
                           protocol::milliseconds_of(loop.clock().wall()), readings.id, power})});
               });
  };
}

PowerStream::Read read_of(Loop& loop, CpuPowerMeter& meter, std::uint32_t number) {
  return [&loop, &meter, number](std::function<void(PowerStream::Sample)> done) {
    meter.ask([&loop, number, done = std::move(done)](const CpuPowerMeter::Answer& answer) {
      const auto* const power = std::get_if<protocol::CpuPower>(&answer);
      if (power == nullptr) {
        done({.is_known = false, .value = {}, .event = "the power of this CPU package is unknown now"});
        return;
      }
      done({.is_known = true,
            .value = records::json_line(*power),
            .event = records::json_line(
                protocol::CpuPowerEvent{protocol::milliseconds_of(loop.clock().wall()), number, *power})});
    });
  };
}

}  // namespace

Service::Service(EventLoop& loop, Clock& clock, const std::vector<Gpu>& gpus,
                 std::vector<std::shared_ptr<device::CpuPackage>> cpus, ServicePlan plan)
    : loop_{std::make_unique<RealLoop>(loop, clock, [this] { tick(); })},
      plan_{std::move(plan)},
      node_{.loop = *loop_,
            .access = plan_.access,
            .logs_requests = plan_.logs_requests,
            .audit = plan_.audit,
            .identity = {.version = plan_.version, .api = 1, .instance = plan_.instance},
            .gpus = {},
            .cpus = {},
            .no_device = {},
            .desk = {},
            .metrics = {}},
      front_{front_of(node_)},
      unchecked_{.names = service::Access::Names::unchecked},
      administration_{clock, door, unchecked_, administration(), answer_of},
      metrics_{clock,
               door,
               unchecked_,
               {{.path = "/metrics",
                 .needs = service::Anyone{},
                 .handler = [this](const SharedCall& call) { show_metrics(node_, call); }},
                nothing_there("*", service::Anyone{})},
               answer_of},
      files_{*loop_, "files", {.patience = Seconds{30}, .waiting = 4}},
      server_{loop, clock, plan_.limits, front_.handler()},
      administration_server_{loop, clock, plan_.limits, administration_.handler()},
      metrics_server_{loop, clock, plan_.limits, metrics_.handler()} {
  node_.access.credentials = plan_.rules.credentials;
  std::map<GpuVendor, std::shared_ptr<device::DriverGate>> gates;
  std::vector<GpuSeat*> seats;
  for (const Gpu& one : gpus) {
    std::shared_ptr<device::DriverGate>& gate = gates[one.gpu.gpu->identity().vendor];
    gate = gate ? gate : std::make_shared<device::DriverGate>();
    ServedGpu served{.identity = one.gpu.gpu->identity(),
                     .reader = std::make_unique<GpuReader>(*loop_, one.gpu, gate, DeviceThread::Bounds{}),
                     .seat = {},
                     .stream = {},
                     .counts_energy = one.gpu.gpu->features().has(device::GpuFeature::energy_counter)};
    served.seat = std::make_unique<GpuSeat>(*loop_, GpuAsked{one.gpu.number.value_or(0), one.gpu.gpu->identity().uuid},
                                            one.seat, DeviceThread::Bounds{});
    served.stream = std::make_unique<PowerStream>(*loop_, plan_.gpu_period, read_of(*loop_, *served.reader));
    seats.push_back(served.seat.get());
    node_.gpus.push_back(std::move(served));
  }
  for (std::shared_ptr<device::CpuPackage>& package : cpus) {
    ServedCpu served;
    const auto id = static_cast<std::uint32_t>(node_.cpus.size());
    served.reader =
        std::make_unique<CpuReader>(*loop_, id, std::move(package), plan_.state, plan_.boot, DeviceThread::Bounds{});
    served.power = std::make_unique<CpuPowerMeter>(*loop_, *served.reader, plan_.cpu_period);
    served.stream = std::make_unique<PowerStream>(*loop_, plan_.cpu_period, read_of(*loop_, *served.power, id));
    node_.cpus.push_back(std::move(served));
  }
  node_.no_device =
      std::make_unique<PowerStream>(*loop_, Seconds{1}, [](const std::function<void(PowerStream::Sample)>& done) {
        done({.is_known = false, .value = {}, .event = "no device"});
      });
  node_.desk = std::make_unique<LeaseDesk>(*loop_, std::move(seats), plan_.rules.policy,
                                           LeaseDesk::Ways{.draw = plan_.draw, .descends = descends_from});
}

Service::~Service() = default;

void Service::tick() {
  const Instant now = loop_->clock().now();
  for (ServedGpu& gpu : node_.gpus) {
    gpu.reader->thread().tick(now);
    gpu.seat->thread().tick(now);
    gpu.stream->tick(now);
  }
  for (ServedCpu& cpu : node_.cpus) {
    cpu.reader->tick(now);
    cpu.power->tick(now);
    cpu.stream->tick(now);
  }
  node_.no_device->tick(now);
  files_.tick(now);
  node_.desk->tick(now);
}

void Service::begin(Seconds patience, std::function<void()> ready) {
  struct Progress {
    std::size_t left;
    std::function<void()> ready;
    EventLoop::Watch patience;
    void end() {
      if (ready) {
        std::exchange(ready, nullptr)();
      }
    }
  };
  const auto progress = std::make_shared<Progress>(Progress{node_.gpus.size() + 1, std::move(ready), {}});
  progress->patience = loop_->events().after(patience, [waiting = std::weak_ptr{progress}] {
    if (const auto still = waiting.lock()) {
      still->end();
    }
  });
  const auto one_less = [progress] {
    if (--progress->left == 0) {
      progress->end();
    }
  };
  for (ServedGpu& gpu : node_.gpus) {
    gpu.seat->put_back_what_was_left([one_less](const std::optional<std::string>& failure) {
      if (failure) {
        log::warning(*failure);
      }
      one_less();
    });
  }
  loop_->post(one_less);
}

void Service::accept_on(FileDescriptor listener) {
  server_.accept_on(std::move(listener));
}

void Service::accept_administration_on(FileDescriptor listener) {
  administration_server_.accept_on(std::move(listener));
}

void Service::accept_metrics_on(FileDescriptor listener) {
  metrics_server_.accept_on(std::move(listener));
}

void Service::reload(std::function<void(std::optional<Error>)> done) {
  struct Read {
    std::optional<Rules> rules;
    std::optional<Error> error;
  };
  const auto read = std::make_shared<Read>();
  files_.ask({.work =
                  [read, from = plan_.read_rules, audit = plan_.audit] {
                    try {
                      read->rules = from();
                      if (audit) {
                        audit->reopen();
                      }
                    } catch (const Error& error) {
                      read->error = error;
                    }
                  },
              .ended =
                  [this, read, done = std::move(done)](DeviceThread::End end) {
                    if (end != DeviceThread::End::done) {
                      done(Error{ErrorKind::timeout, "the policy and keys could not be read in time"});
                      return;
                    }
                    if (read->rules) {
                      node_.access.credentials = std::move(read->rules->credentials);
                      const WallTime now = loop_->clock().wall();
                      node_.desk->set_policy(std::move(read->rules->policy), [this, now](const Client& client) {
                        return service::is_believed(client.bearer, node_.access, now);
                      });
                      // A stream asks for its right at its beginning alone.
                      for (const ServedGpu& gpu : node_.gpus) {
                        gpu.stream->end_all();
                      }
                      for (const ServedCpu& cpu : node_.cpus) {
                        cpu.stream->end_all();
                      }
                    }
                    done(read->error);
                  },
              .is_wanted = {}});
}

void Service::stop(Seconds patience, std::function<void()> done) {
  const auto tell = std::make_shared<std::function<void()>>(std::move(done));
  const auto end = [tell] {
    if (*tell) {
      std::exchange(*tell, nullptr)();
    }
  };
  deadline_ = loop_->events().after(patience, end);
  server_.drain();
  metrics_server_.drain();
  const auto left = std::make_shared<std::size_t>(node_.cpus.size() + 1);
  const auto one_less = [left, end] {
    if (--*left == 0) {
      end();
    }
  };
  for (ServedCpu& cpu : node_.cpus) {
    cpu.reader->save(one_less);
  }
  node_.desk->close(one_less);
}

bool Service::is_stuck() {
  const auto is_working = [this] {
    return std::ranges::any_of(node_.gpus,
                               [](const ServedGpu& gpu) {
                                 return gpu.seat->thread().is_working() || gpu.reader->thread().is_working();
                               }) ||
           std::ranges::any_of(node_.cpus, [](const ServedCpu& cpu) { return cpu.reader->thread().is_working(); });
  };
  // Calls that only read take a moment.
  Clock& clock = loop_->clock();
  for (int looks = 0; looks < 20 && is_working(); ++looks) {
    clock.sleep_until(clock.now() + Seconds{0.05});
  }
  return is_working();
}

std::vector<service::Route> Service::administration() {
  using service::Anyone;
  const auto list = [this](const SharedCall& call) { list_all_leases(node_, call); };
  const auto end = [this](const SharedCall& call) {
    std::string lease;
    if (call->read_query({{"lease", lease}}) &&
        !node_.desk->end(lease, "taken back by the administrator", [call] { call->done(); })) {
      call->refuse(Status::not_found, fmt::format("there is no lease {}", lease));
    }
  };
  const auto read_again = [this](const SharedCall& call) {
    reload([call](const std::optional<Error>& error) {
      if (error) {
        call->refuse(*error);
      } else {
        call->done();
      }
    });
  };
  return {{.path = "/leases", .needs = Anyone{}, .handler = list},
          {.method = "POST", .path = "/leases/end", .needs = Anyone{}, .handler = end},
          {.method = "POST", .path = "/reload", .needs = Anyone{}, .handler = read_again},
          nothing_there("*", Anyone{})};
}

}  // namespace zeus::daemon
