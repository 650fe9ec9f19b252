// Initialisation and shutdown, versions, and the meaning of return codes.

#include "base/file_tree.hpp"
#include "drivers/nvml/call.hpp"

#include <fmt/format.h>

#include <string>

namespace zeus::drivers::nvml {

namespace {

// The last branch of the vendor's drivers that knows all models of our presets, including Pascal and Volta.
constexpr std::string_view driver_version = "580.65.06";
constexpr std::string_view library_version = "13.580.65.06";
constexpr int cuda_version = 13000;

Code name_process(unsigned process, char* name, unsigned length) {
  const FileTree files;
  const std::optional<std::string> line = files.read(fmt::format("proc/{}/cmdline", process));
  if (!line) {
    return Code::not_found;
  }
  const std::string program{line->c_str()};
  if (length == 0) {
    return Code::insufficient_size;
  }
  return give_text(program.substr(0, length - 1), name, length);
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the names are the vendor's

ZEUS_NVML Code nvmlInit_v2() {
  switch (Attachment::instance().initialise(Vendor::nvidia)) {
    case AttachResult::attached:
      return Code::success;
    case AttachResult::other_layout:
      return Code::library_mismatch;
    case AttachResult::no_session:
      break;
  }
  return Code::driver_not_loaded;
}

ZEUS_NVML Code nvmlInit() {
  return nvmlInit_v2();
}

ZEUS_NVML Code nvmlInitWithFlags(unsigned) {
  return nvmlInit_v2();
}

ZEUS_NVML Code nvmlShutdown() {
  return Attachment::instance().shut_down() ? Code::success : Code::uninitialized;
}

ZEUS_NVML Code nvmlSystemGetDriverVersion(char* version, unsigned length) {
  return Entry::system_call(__func__, [&](Session&, Instant) {
    return version == nullptr ? Code::invalid_argument : give_text(driver_version, version, length);
  });
}

ZEUS_NVML Code nvmlSystemGetNVMLVersion(char* version, unsigned length) {
  return version == nullptr ? Code::invalid_argument : give_text(library_version, version, length);
}

ZEUS_NVML Code nvmlSystemGetCudaDriverVersion(int* version) {
  return version == nullptr ? Code::invalid_argument : give(version, cuda_version);
}

ZEUS_NVML Code nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return nvmlSystemGetCudaDriverVersion(version);
}

ZEUS_NVML Code nvmlSystemGetProcessName(unsigned process, char* name, unsigned length) {
  return Entry::system_call(__func__, [&](Session&, Instant) {
    return name == nullptr ? Code::invalid_argument : name_process(process, name, length);
  });
}

ZEUS_NVML const char* nvmlErrorString(Code code) {
  switch (code) {
    case Code::success:
      return "Success";
    case Code::uninitialized:
      return "Uninitialized";
    case Code::invalid_argument:
      return "Invalid Argument";
    case Code::not_supported:
      return "Not Supported";
    case Code::no_permission:
      return "Insufficient Permissions";
    case Code::not_found:
      return "Not Found";
    case Code::insufficient_size:
      return "Insufficient Size";
    case Code::driver_not_loaded:
      return "Driver Not Loaded";
    case Code::timeout:
      return "Timeout";
    case Code::function_not_found:
      return "Function Not Found";
    case Code::gpu_is_lost:
      return "GPU is lost";
    case Code::library_mismatch:
      return "Driver/library version mismatch";
    case Code::memory:
      return "Insufficient Memory";
    case Code::argument_version_mismatch:
      return "Argument version mismatch";
    case Code::reset_required:
    case Code::deprecated:
    case Code::gpu_not_found:
    case Code::unknown:
      break;
  }
  return "Unknown Error";
}

// NOLINTEND(readability-identifier-naming)

}  // namespace zeus::drivers::nvml
