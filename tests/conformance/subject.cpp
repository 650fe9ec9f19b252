#include "tests/conformance/subject.hpp"

#include "backends/amdsmi/amdsmi_backend.hpp"
#include "backends/nvml/nvml_backend.hpp"
#include "backends/rapl/rapl_backend.hpp"
#include "backends/virtual/virtual_backend.hpp"
#include "backends/zeusd/zeusd_backend.hpp"
#include "base/file_tree.hpp"
#include "tests/support/daemon_in_process.hpp"
#include "tests/support/leased_gpus.hpp"
#include "tests/support/temporary_folder.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <new>
#include <optional>
#include <string>

namespace zeus::conformance {

namespace {

thread_local std::size_t allocation_count = 0;

// Everything a subject needs for as long as the program runs.
struct World {
  SystemClock clock;
  VirtualClock virtual_clock;
  std::unique_ptr<device::Backend> backend;
  std::optional<test::TemporaryFolder> folder;
  std::unique_ptr<device::Backend> served_gpus;
  std::optional<test::TemporaryFolder> records;
  std::optional<test::DaemonInProcess> daemon;
  Subject subject;
};

World& world() {
  static World the_world;
  return the_world;
}

// A recorded tree does not change: time passes by adding to its counters, 25 W each, across their wraps.
void advance_counters(const FileTree& tree, const std::filesystem::path& root, Seconds amount) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator{root}) {
    const std::filesystem::path& path = entry.path();
    if (path.filename() != "energy_uj") {
      continue;
    }
    const std::string folder = path.parent_path().lexically_relative(root).string();
    const std::optional<std::string> energy = tree.read_line(folder + "/energy_uj");
    const std::optional<std::string> range = tree.read_line(folder + "/max_energy_range_uj");
    if (energy && range) {
      const auto moved = std::stoull(*energy) + static_cast<unsigned long long>(amount.value() * 25e6);
      tree.write_durably(folder + "/energy_uj", fmt::format("{}\n", moved % (std::stoull(*range) + 1)));
    }
  }
}

// The tree is copied first: a fixture is not written to.
void use_recorded_tree(const std::string& recorded) {
  World& here = world();
  const std::filesystem::path& root = here.folder.emplace().path();
  std::filesystem::copy(recorded, root, std::filesystem::copy_options::recursive);
  const FileTree tree{root};
  here.backend = std::make_unique<backends::rapl::RaplBackend>(tree, here.clock);
  here.subject.pass = [tree, root](Seconds amount) { advance_counters(tree, root, amount); };
}

// Every model at once, under a load that changes all the time, on a clock that only the suite moves.
void use_virtual_gpus() {
  World& here = world();
  auto backend = std::make_unique<backends::virtual_gpu::VirtualBackend>(here.virtual_clock, physics::presets());
  for (std::size_t i = 0; i < backend->size(); ++i) {
    backend->gpu(i).set_load(physics::Load::square(physics::Demand::of_power(80_W), physics::Demand::of_power(300_W),
                                                   200_ms, here.virtual_clock.now()));
  }
  here.backend = std::move(backend);
  here.subject.clock = &here.virtual_clock;
  here.subject.pass = [&here](Seconds amount) { here.virtual_clock.advance(amount); };
}

// A load that changes all the time, on the real clock.
std::vector<device::DiscoveredGpu> gpus_to_serve() {
  World& here = world();
  auto backend = std::make_unique<backends::virtual_gpu::VirtualBackend>(here.clock, physics::presets());
  for (std::size_t i = 0; i < backend->size(); ++i) {
    backend->gpu(i).set_load(physics::Load::square(physics::Demand::of_power(80_W), physics::Demand::of_power(300_W),
                                                   200_ms, here.clock.now()));
  }
  here.served_gpus = std::move(backend);
  return here.served_gpus->discover().gpus;
}

void use_daemon(bool by_tcp, const std::string& recorded) {
  World& here = world();
  test::DaemonServes serves{.gpus = gpus_to_serve()};
  if (!recorded.empty()) {
    use_recorded_tree(recorded);
    serves.cpus = here.backend->discover().cpus;
    here.subject.pass = [&here, advance = here.subject.pass](Seconds amount) {
      here.clock.sleep_until(here.clock.now() + amount);
      advance(amount);
    };
  }
  const std::filesystem::path root = here.records.emplace().path();
  const FileTree machine{root / "machine"};
  machine.write_durably("proc/sys/kernel/random/boot_id", "this-boot\n");
  const control::Ledger ledger{FileTree{root / "state"}, machine};
  here.daemon.emplace(
      here.clock, ledger,
      [ledger, &here](std::vector<device::DiscoveredGpu> gpus) {
        return control::LeaseBook{ledger, std::move(gpus), std::make_shared<test::SilentGuardian>(), here.clock};
      },
      std::move(serves));
  backends::zeusd::DaemonPlace place{{here.daemon->socket(), {}}, {}, true};
  if (by_tcp) {
    place = {{{}, here.daemon->host_port()}, here.daemon->token("conformance"), true};
  }
  here.backend = std::make_unique<backends::zeusd::ZeusdBackend>(std::make_shared<backends::zeusd::DaemonLink>(
      std::move(place), here.clock,
      backends::zeusd::DaemonLink::InPassing{.moment = 10_s, .simple = 10_s}));  // the machine may be busy
  here.subject.is_remote = true;
}

}  // namespace

Subject& subject() {
  return world().subject;
}

std::size_t allocations() {
  return allocation_count;
}

void choose_subject(const Choice& choice) {
  World& here = world();
  here.subject.clock = &here.clock;
  here.subject.pass = [&here](Seconds amount) { here.clock.sleep_until(here.clock.now() + amount); };
  if (choice.backend == "nvml") {
    here.backend = std::make_unique<backends::nvml::NvmlBackend>(here.clock);
  } else if (choice.backend == "amdsmi") {
    here.backend = std::make_unique<backends::amdsmi::AmdsmiBackend>(here.clock);
  } else if (choice.backend == "zeusd" || choice.backend == "zeusd_tcp") {
    use_daemon(choice.backend == "zeusd_tcp", choice.folder);
  } else if (choice.backend == "virtual") {
    use_virtual_gpus();
  } else if (choice.backend == "rapl" && !choice.folder.empty()) {
    use_recorded_tree(choice.folder);
  } else if (choice.backend == "rapl") {
    here.backend = std::make_unique<backends::rapl::RaplBackend>(FileTree{}, here.clock);
  } else {
    throw Error{ErrorKind::invalid_argument, fmt::format("there is no back-end '{}' here", choice.backend),
                "name one of nvml, amdsmi, rapl, virtual, zeusd, zeusd_tcp"};
  }
  here.subject.name = choice.backend;
  here.subject.may_set = choice.may_set;
  here.subject.found = here.backend->discover();
}

void leave_subject() {
  World& here = world();
  here.subject.found = {};
  here.backend.reset();
  here.daemon.reset();
}

}  // namespace zeus::conformance

#ifdef ZEUS_COUNT_ALLOCATIONS  // a sanitizer has its own operators, which must not be replaced

// Counts allocations, which hot paths must not make. The default array and nothrow operators call this one.
void* operator new(std::size_t size) {
  ++zeus::conformance::allocation_count;
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) {  // NOLINT(cppcoreguidelines-no-malloc)
    return memory;
  }
  throw std::bad_alloc{};
}
void operator delete(void* memory) noexcept {
  std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc)
}
void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc)
}

#endif
