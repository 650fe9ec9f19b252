#include "tests/support/virtual_machine.hpp"

#include "control/guardian.hpp"
#include "control/ledger.hpp"
#include "job_library/process_clock.hpp"
#include "measure/windows.hpp"

#include <zeus/error.hpp>
#include <zeus/measure.hpp>

#include <filesystem>
#include <string>
#include <utility>

namespace zeus {

namespace test {

namespace {

VirtualMachine* machine_of_now = nullptr;

struct GuardianOfNothing final : control::Guardian {
  void watch(const std::string& /*gpu*/) override {}
  void notice() noexcept override {}
};

// Lets the process set the limits of a policy, and put back the one that it found.
class UnderPolicy final : public device::GpuControl {
 public:
  UnderPolicy(std::shared_ptr<backends::virtual_gpu::VirtualGpu> gpu, device::WattRange allowed)
      : gpu_{std::move(gpu)}, allowed_{allowed}, found_{gpu_->power_limits().current.or_throw("the present limit")} {}

  device::Outcome set_power_limit(Watts limit) override {
    if (limit != found_ && (limit < allowed_.minimum || allowed_.maximum < limit)) {
      return Failure{Reason::permission, "the policy forbids this limit"};
    }
    return gpu_->set_power_limit(limit);
  }

 private:
  std::shared_ptr<backends::virtual_gpu::VirtualGpu> gpu_;
  device::WattRange allowed_;
  Watts found_;
};

// Knows the policy; leases are the process's own.
class PolicyAlone final : public control::Lessor {
 public:
  explicit PolicyAlone(device::WattRange allowed) : allowed_{allowed} {}

  [[nodiscard]] bool offers(std::string_view /*uuid*/) const override { return false; }
  [[nodiscard]] std::vector<device::WattRange> allowed_power_limits(std::string_view /*uuid*/) const override {
    return {allowed_};
  }
  [[nodiscard]] std::unique_ptr<control::LeaseBacking> take(const device::DiscoveredGpu& /*gpu*/, Seconds /*term*/,
                                                            control::Lends /*lends*/,
                                                            control::LessorPatience /*patience*/) override {
    throw Error{ErrorKind::unavailable, "this lessor leases no GPU", "take the lease from a book"};
  }
  [[nodiscard]] bool has_one(std::string_view /*uuid*/) override { return false; }

 private:
  device::WattRange allowed_;
};

}  // namespace

VirtualMachine::VirtualMachine(const std::vector<physics::GpuModel>& models) {
  FileTree{folder_.path() / "machine"}.write_durably("proc/sys/kernel/random/boot_id", "this-boot\n");
  std::filesystem::create_directories(folder_.path() / "state");
  const auto host = std::make_shared<backends::virtual_gpu::Host>(clock_);
  for (const physics::GpuModel& model : models) {
    gpus_.push_back(std::make_shared<backends::virtual_gpu::VirtualGpu>(host, model, static_cast<int>(gpus_.size())));
  }
  machine_of_now = this;
  begin_process();
}

VirtualMachine::~VirtualMachine() {
  end_process();
  machine_of_now = nullptr;
}

void VirtualMachine::begin_process() {
  end_process();
  auto sampler = std::make_shared<measure::SamplerSource>(measure::Sampler::Devices{.gpus = gpus(), .cpus = {}}, clock_,
                                                          measure::Sampler::Polled::by_caller);
  process_.emplace(library::Machine{.clock = clock_,
                                    .inventory = {},
                                    .gpus = {},
                                    .sampler = sampler,
                                    .lessor = allowed_ ? std::make_shared<PolicyAlone>(*allowed_) : nullptr});
  for (const auto& gpu : gpus_) {
    device::DiscoveredGpu found{.gpu = gpu, .control = gpu, .number = static_cast<int>(process_->gpus.size())};
    if (allowed_) {
      found.control = std::make_shared<UnderPolicy>(gpu, *allowed_);
    }
    process_->gpus.push_back(std::move(found));
  }
  process_->inventory.gpus = process_->gpus;
  clock_.employ([sampler] { return sampler->sampler()->poll(); });
}

void VirtualMachine::end_process() {
  clock_.employ({});
  book_.reset();
  process_.reset();
}

void VirtualMachine::stand_still(Seconds time) {
  clock_.employ({});
  pass(time);
  clock_.employ([sampler = process_->sampler] { return sampler->sampler()->poll(); });
}

Joules VirtualMachine::true_energy() const {
  Joules all;
  for (const auto& gpu : gpus_) {
    all += gpu->true_energy(clock_.now());
  }
  return all;
}

control::LeaseBook VirtualMachine::open_book(std::vector<device::DiscoveredGpu> gpus) const {
  return {control::Ledger{FileTree{folder_.path() / "state"}, FileTree{folder_.path() / "machine"}}, std::move(gpus),
          std::make_shared<GuardianOfNothing>(), process_->clock};
}

control::LeaseBook& VirtualMachine::book() {
  return book_ ? *book_ : book_.emplace(open_book());
}

}  // namespace test

namespace library {

const Machine& this_machine() {
  return test::machine_of_now->process();
}

control::LeaseBook open_lease_book(std::vector<device::DiscoveredGpu> gpus) {
  return test::machine_of_now->open_book(std::move(gpus));
}

control::LeaseBook& lease_book() {
  return test::machine_of_now->book();
}

}  // namespace library

Monitor::Monitor(const Options& options) : Monitor{measure::monitor_of(library::this_machine().sampler, options)} {
}

Clock& job_library::process_clock() {
  return test::machine_of_now->clock();
}

}  // namespace zeus
