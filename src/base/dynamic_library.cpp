#include "base/dynamic_library.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <dlfcn.h>

#include <string_view>
#include <utility>

namespace zeus {

namespace {

// The loader reports absence only in words; the name of the library itself in front of them means that it is this one
// that is missing, and not one it depends on.
bool is_absence(std::string_view failure, std::string_view name) {
  return failure.starts_with(name) && failure.find("No such file or directory") != std::string_view::npos;
}

}  // namespace

std::optional<DynamicLibrary> DynamicLibrary::open(std::span<const std::string> names) {
  for (const std::string& name : names) {
    if (void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      return DynamicLibrary{name, std::shared_ptr<void>{handle, [](void* opened) { ::dlclose(opened); }}};
    }
    const char* reported = ::dlerror();
    const std::string failure = reported != nullptr ? reported : "the loader gave no reason";
    if (!is_absence(failure, name)) {
      throw Error{ErrorKind::unavailable,
                  fmt::format("the library {} is installed but cannot be loaded: {}", name, failure),
                  "reinstall the driver that brings it"};
    }
  }
  return std::nullopt;
}

DynamicLibrary::DynamicLibrary(std::string name, std::shared_ptr<void> handle)
    : name_{std::move(name)}, handle_{std::move(handle)} {
}

void* DynamicLibrary::find(const char* symbol) const {
  return ::dlsym(handle_.get(), symbol);
}

}  // namespace zeus
