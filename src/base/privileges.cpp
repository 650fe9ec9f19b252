#include "base/privileges.hpp"

#include "base/file_descriptor.hpp"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace zeus {

namespace {

// The kernel's header uses two of these structs as one array.
using CapabilityWords = std::array<__user_cap_data_struct, 2>;
constexpr unsigned bits_of_word = 32;

std::uint32_t bit_of(int capability) {
  return std::uint32_t{1} << (static_cast<unsigned>(capability) % bits_of_word);
}

}  // namespace

bool has_capability(const FileTree& machine, int capability) {
  const std::string status = machine.read("proc/self/status").value_or("");
  constexpr std::string_view key = "CapEff:\t";
  const std::size_t position = status.find(key);
  if (position == std::string::npos) {
    return false;
  }
  std::uint64_t held = 0;
  std::from_chars(status.data() + position + key.size(), status.data() + status.size(), held, 16);
  return ((held >> static_cast<unsigned>(capability)) & 1U) != 0;
}

void keep_capabilities(std::span<const int> kept) {
  const auto is_kept = [&](int capability) { return std::ranges::find(kept, capability) != kept.end(); };
  // Beyond the kernel's last capability, the call fails.
  for (int capability = 0; ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; ++capability) {
    if (!is_kept(capability) && ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0 && errno != EPERM) {
      throw system_failure(errno, "capabilities cannot be given up");
    }
  }
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  CapabilityWords words{};
  if (::syscall(SYS_capget, &header, words.data()) != 0) {
    throw system_failure(errno, "the capabilities of this process cannot be read");
  }
  CapabilityWords left{};
  for (const int capability : kept) {
    const auto word = static_cast<unsigned>(capability) / bits_of_word;
    left.at(word).effective |= words.at(word).effective & bit_of(capability);
    left.at(word).permitted |= words.at(word).permitted & bit_of(capability);
  }
  if (::syscall(SYS_capset, &header, left.data()) != 0) {
    throw system_failure(errno, "capabilities cannot be given up");
  }
}

void forbid_core_dumps() {
  const rlimit none{0, 0};
  if (::setrlimit(RLIMIT_CORE, &none) != 0 || ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) {
    throw system_failure(errno, "core dumps cannot be forbidden");
  }
}

}  // namespace zeus
