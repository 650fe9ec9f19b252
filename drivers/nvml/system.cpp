// Beginning and end, versions, and what return codes mean.

#include "base/file_tree.hpp"
#include "drivers/nvml/call.hpp"

#include <fmt/format.h>

#include <string>

namespace zeus::drivers::nvml {

namespace {

// The last branch of the vendor's drivers that knows all the cards of our presets, Pascal and Volta included.
constexpr std::string_view driver_version = "580.65.06";
constexpr std::string_view library_version = "13.580.65.06";
constexpr int cuda_version = 13000;

Return name_process(unsigned process, char* name, unsigned length) {
  const FileTree files;
  const std::optional<std::string> line = files.read(fmt::format("proc/{}/cmdline", process));
  if (!line) {
    return Return::not_found;
  }
  const std::string program{line->c_str()};
  if (length == 0) {
    return Return::insufficient_size;
  }
  return give_text(program.substr(0, length - 1), name, length);
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the names are the vendor's

ZEUS_NVML Return nvmlInit_v2() {
  switch (Attachment::instance().initialise(Vendor::nvidia)) {
    case AttachResult::attached:
      return Return::success;
    case AttachResult::other_layout:
      return Return::version_mismatch_with_driver;
    case AttachResult::no_session:
      break;
  }
  return Return::driver_not_loaded;
}

ZEUS_NVML Return nvmlInit() {
  return nvmlInit_v2();
}

ZEUS_NVML Return nvmlInitWithFlags(unsigned) {
  return nvmlInit_v2();
}

ZEUS_NVML Return nvmlShutdown() {
  return Attachment::instance().shut_down() ? Return::success : Return::uninitialized;
}

ZEUS_NVML Return nvmlSystemGetDriverVersion(char* version, unsigned length) {
  return Entry::system_call(__func__, [&](Session&, Instant) {
    return version == nullptr ? Return::invalid_argument : give_text(driver_version, version, length);
  });
}

ZEUS_NVML Return nvmlSystemGetNVMLVersion(char* version, unsigned length) {
  return version == nullptr ? Return::invalid_argument : give_text(library_version, version, length);
}

ZEUS_NVML Return nvmlSystemGetCudaDriverVersion(int* version) {
  return version == nullptr ? Return::invalid_argument : give(version, cuda_version);
}

ZEUS_NVML Return nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return nvmlSystemGetCudaDriverVersion(version);
}

ZEUS_NVML Return nvmlSystemGetProcessName(unsigned process, char* name, unsigned length) {
  return Entry::system_call(__func__, [&](Session&, Instant) {
    return name == nullptr ? Return::invalid_argument : name_process(process, name, length);
  });
}

ZEUS_NVML const char* nvmlErrorString(Return code) {
  switch (code) {
    case Return::success:
      return "Success";
    case Return::uninitialized:
      return "Uninitialized";
    case Return::invalid_argument:
      return "Invalid Argument";
    case Return::not_supported:
      return "Not Supported";
    case Return::no_permission:
      return "Insufficient Permissions";
    case Return::not_found:
      return "Not Found";
    case Return::insufficient_size:
      return "Insufficient Size";
    case Return::driver_not_loaded:
      return "Driver Not Loaded";
    case Return::timeout:
      return "Timeout";
    case Return::function_not_found:
      return "Function Not Found";
    case Return::gpu_is_lost:
      return "GPU is lost";
    case Return::version_mismatch_with_driver:
      return "Driver/library version mismatch";
    case Return::memory:
      return "Insufficient Memory";
    case Return::argument_version_mismatch:
      return "Argument version mismatch";
    case Return::unknown:
      break;
  }
  return "Unknown Error";
}

// NOLINTEND(readability-identifier-naming)

}  // namespace zeus::drivers::nvml
