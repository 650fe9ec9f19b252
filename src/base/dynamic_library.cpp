#include "base/dynamic_library.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <dlfcn.h>

#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

namespace zeus {

namespace {

// The loader reports absence only in words, those of the process's locale. If they begin with the library's own name,
// that library is missing, and not one that it depends on.
bool is_missing_library(std::string_view failure, std::string_view name) {
  return failure.starts_with(name) && failure.find(std::generic_category().message(ENOENT)) != std::string_view::npos;
}

// An address inside the program or library that this code is linked into.
const char landmark = 0;

}  // namespace

std::filesystem::path folder_of_this_code() {
  std::error_code ignored;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  ::Dl_info info{};
  if (::dladdr(&landmark, &info) == 0 || info.dli_fname == nullptr) {
    return program.parent_path();
  }
  // For the program itself, the loader only knows the name that it was started by.
  const std::filesystem::path file = std::filesystem::canonical(info.dli_fname, ignored);
  return file.empty() ? program.parent_path() : file.parent_path();
}

std::optional<DynamicLibrary> DynamicLibrary::open(std::span<const std::string> names) {
  for (const std::string& name : names) {
    if (void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      return DynamicLibrary{name, std::shared_ptr<void>{handle, [](void* opened) { ::dlclose(opened); }}};
    }
    const char* reported = ::dlerror();
    const std::string failure = reported != nullptr ? reported : "the loader gave no reason";
    if (!is_missing_library(failure, name)) {
      throw Error{ErrorKind::unavailable,
                  fmt::format("the library {} is installed but cannot be loaded: {}", name, failure),
                  "reinstall the driver that brings it"};
    }
  }
  return std::nullopt;
}

bool DynamicLibrary::is_loaded(const std::string& name) {
  void* const handle = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  return handle != nullptr && ::dlclose(handle) == 0;
}

DynamicLibrary::DynamicLibrary(std::string name, std::shared_ptr<void> handle)
    : name_{std::move(name)}, handle_{std::move(handle)} {
}

void* DynamicLibrary::find(const char* symbol) const {
  return ::dlsym(handle_.get(), symbol);
}

}  // namespace zeus
