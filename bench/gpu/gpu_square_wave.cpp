// Loads one real GPU with a square wave: busy for half of each period, idle for the other. It computes and never sets
// anything. CUDA's driver library is opened at run time and gets its kernel as text, so the build needs nothing of
// CUDA.
//
//   gpu_square_wave PCI PERIOD_MS SECONDS     PERIOD_MS 0 is busy all the time; exit code 3 if there is no CUDA
//
// Prints nothing while it runs; on a failure, one line with the name of the call.

#include "base/clock.hpp"
#include "base/dynamic_library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace zeus;

constexpr int exit_no_cuda = 3;

// Multiplies and adds until the GPU's own timer says that `length` nanoseconds have passed. The store never happens; it
// keeps the compiler from removing the arithmetic.
constexpr const char* kernel = R"(
.version 6.0
.target sm_60
.address_size 64
.visible .entry burn(.param .u64 length, .param .u64 sink)
{
  .reg .u64 %length, %sink, %start, %now;
  .reg .f32 %a, %b, %c, %d, %m;
  .reg .pred %more, %never;
  ld.param.u64 %length, [length];
  ld.param.u64 %sink, [sink];
  mov.u64 %start, %globaltimer;
  mov.f32 %a, 0f3F800001;
  mov.f32 %b, 0f3F800002;
  mov.f32 %c, 0f3F800003;
  mov.f32 %d, 0f3F800004;
  mov.f32 %m, 0f3F7FFFFF;
AGAIN:
  fma.rn.f32 %a, %a, %m, %b;
  fma.rn.f32 %b, %b, %m, %c;
  fma.rn.f32 %c, %c, %m, %d;
  fma.rn.f32 %d, %d, %m, %a;
  fma.rn.f32 %a, %a, %m, %c;
  fma.rn.f32 %b, %b, %m, %d;
  fma.rn.f32 %c, %c, %m, %a;
  fma.rn.f32 %d, %d, %m, %b;
  mov.u64 %now, %globaltimer;
  sub.u64 %now, %now, %start;
  setp.lt.u64 %more, %now, %length;
  @%more bra AGAIN;
  add.f32 %a, %a, %b;
  add.f32 %a, %a, %c;
  add.f32 %a, %a, %d;
  setp.eq.f32 %never, %a, 0f00000000;
  @%never st.global.f32 [%sink], %a;
  ret;
}
)";

using Code = int;                     // CUresult
constexpr int processor_count = 16;   // CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
constexpr unsigned block_size = 256;  // threads
constexpr unsigned blocks_each = 8;   // per multiprocessor

class Cuda {
 public:
  explicit Cuda(DynamicLibrary library) : library_{std::move(library)} {}

  // Calls the function of that name. False, with a line on stderr, if there is none or it fails.
  template <typename... Arguments>
  bool call(const char* name, Arguments... arguments) {
    auto* const function = library_.function<Code(Arguments...)>({name});
    const Code code = function != nullptr ? function(arguments...) : -1;
    if (code != 0) {
      fmt::print(stderr, "gpu_square_wave: {} fails with code {}\n", name, code);
    }
    return code == 0;
  }

 private:
  DynamicLibrary library_;
};

class Burner {
 public:
  explicit Burner(Cuda& cuda) : cuda_{cuda} {}

  bool open(const char* pci) {
    int device = 0;
    int processors = 0;
    void* context = nullptr;
    void* module = nullptr;
    constexpr std::size_t sink_size = 4;
    const bool ready = cuda_.call("cuInit", 0U) && cuda_.call("cuDeviceGetByPCIBusId", &device, pci) &&
                       cuda_.call("cuDeviceGetAttribute", &processors, processor_count, device) &&
                       cuda_.call("cuCtxCreate_v2", &context, 0U, device) &&
                       cuda_.call("cuModuleLoadData", &module, static_cast<const void*>(kernel)) &&
                       cuda_.call("cuModuleGetFunction", &function_, module, "burn") &&
                       cuda_.call("cuMemAlloc_v2", &sink_, sink_size);
    blocks_ = static_cast<unsigned>(processors) * blocks_each;
    return ready;
  }

  bool burn(Seconds length) {
    auto nanoseconds = static_cast<std::uint64_t>(length.value() * 1e9);
    std::array<void*, 2> parameters{&nanoseconds, &sink_};
    return cuda_.call("cuLaunchKernel", function_, blocks_, 1U, 1U, block_size, 1U, 1U, 0U, static_cast<void*>(nullptr),
                      parameters.data(), static_cast<void**>(nullptr)) &&
           cuda_.call("cuCtxSynchronize");
  }

 private:
  Cuda& cuda_;
  void* function_ = nullptr;
  std::uint64_t sink_ = 0;
  unsigned blocks_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    fmt::print(stderr, "gpu_square_wave: PCI PERIOD_MS SECONDS\n");
    return 2;
  }
  const std::vector<std::string> names{"libcuda.so.1", "libcuda.so"};
  std::optional<DynamicLibrary> library = DynamicLibrary::open(names);
  if (!library) {
    return exit_no_cuda;
  }
  Cuda cuda{*std::move(library)};
  Burner burner{cuda};
  if (!burner.open(argv[1])) {
    return 1;
  }
  SystemClock clock;
  const Seconds period = Milliseconds{std::stod(argv[2])};
  const Seconds busy = period > 0_s ? period / 2 : Seconds{0.1};
  const Instant start = clock.now();
  const Instant end = start + Seconds{std::stod(argv[3])};
  for (Instant next = start; next < end; next = std::max(next + std::max(period, busy), clock.now())) {
    clock.sleep_until(next);
    if (!burner.burn(busy)) {
      return 1;
    }
  }
  return 0;
}
