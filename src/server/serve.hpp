// `zeus serve`: opens the store and the sockets, serves until it is stopped. Main thread; the arguments must outlive
// it.
#pragma once

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/file_tree.hpp"
#include "base/log.hpp"
#include "records/pipeline_plan.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace zeus::server {

struct ServeSettings {
  std::vector<std::string> listen;  // "127.0.0.1:8470", "unix:PATH"; the first of these if none is given
  std::string database;             // the user's own store if empty
  std::optional<std::string> signing_key_path;
  bool no_tokens = false;     // users are not checked, wherever they connect from
  bool behind_proxy = false;  // all requests come from one address, under any name
  std::vector<std::string> host_names;
  std::uint64_t cache_mib = 256;
  std::uint64_t jobs_of_a_user = 10'000;
  bool metrics_per_job = true;
  std::optional<records::PlannedRanks> pipeline_plan;  // which pipelined trainings follow
  log::Level log_level = log::Level::info;             // debug: each request too
  std::string version;
};

struct Surroundings {
  std::ostream& out;  // receives the addresses it listens on
  Clock& clock;
  const Environment& environment;
  const FileTree& machine;
};

// Returns after SIGTERM or SIGINT; SIGHUP makes it read keys and revoked tokens again. Contradicting settings are an
// invalid_argument Error.
void serve(const ServeSettings& settings, const Surroundings& surroundings);

}  // namespace zeus::server
