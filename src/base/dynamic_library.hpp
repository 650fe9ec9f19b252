// A shared library opened at run time, so that nothing needs a vendor's SDK to build or to start.
// The library stays loaded as long as the object lives; do not call a symbol after that. Lookups are thread-safe.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

namespace zeus {

class DynamicLibrary {
 public:
  // Opens the first of `names` that the loader finds ("libnvidia-ml.so.1", "libnvidia-ml.so"); nothing if none is
  // there. A library that is there but cannot be loaded (missing dependency, wrong architecture) is an Error.
  [[nodiscard]] static std::optional<DynamicLibrary> open(std::span<const std::string> names);

  // Whether this process has the library of this name already.
  [[nodiscard]] static bool is_loaded(const std::string& name);

  [[nodiscard]] const std::string& name() const { return name_; }

  // The function of that name, or the first of several (newest version first); null if the library has none of them.
  template <typename Function>
    requires std::is_function_v<Function>
  [[nodiscard]] Function* function(std::initializer_list<const char*> names) const {
    for (const char* name : names) {
      if (void* address = find(name)) {
        return reinterpret_cast<Function*>(address);  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast): dlsym
      }
    }
    return nullptr;
  }

 private:
  DynamicLibrary(std::string name, std::shared_ptr<void> handle);
  [[nodiscard]] void* find(const char* symbol) const;

  std::string name_;
  std::shared_ptr<void> handle_;
};

// The folder of the program or shared library that this code is linked into, where its companions are looked for. Empty
// if the system does not say.
std::filesystem::path folder_of_this_code();

}  // namespace zeus
