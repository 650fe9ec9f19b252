// `zeus serve`: opens the store and the sockets, serves until told to stop. Main thread; what it is given outlives it.
#pragma once

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/file_tree.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace zeus::server {

struct ServeSettings {
  std::vector<std::string> listen;  // "127.0.0.1:8470", "unix:PATH"; the first of these where none is named
  std::string database;             // the user's own store where it is empty
  std::optional<std::string> signing_key_path;
  bool no_tokens = false;     // nobody is asked who he is, wherever he comes from
  bool behind_proxy = false;  // all come from one address, by whatever name
  std::vector<std::string> host_names;
  std::uint64_t cache_mib = 256;
  std::uint64_t jobs_of_a_user = 10'000;
  bool metrics_per_job = true;
  std::string version;
};

struct Surroundings {
  std::ostream& out;  // is told where it listens
  Clock& clock;
  const Environment& environment;
  const FileTree& machine;
};

// Returns once it was told to stop by SIGTERM or SIGINT; SIGHUP has keys and revoked tokens read anew. What does not go
// together is an invalid_argument Error.
void serve(const ServeSettings& settings, const Surroundings& surroundings);

}  // namespace zeus::server
