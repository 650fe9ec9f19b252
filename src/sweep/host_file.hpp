// The hosts of a sweep, as hosts.yaml has them. Plain values and pure functions; any thread.
#pragma once

#include "sweep/queue_entry.hpp"

#include <string>
#include <vector>

namespace zeus::sweep {

// Where runs take place: a host, or a part of one, with parameters of its own.
struct Place {
  std::string host;   // for ssh
  std::string label;  // "h1", or "h1 (gpu0)": names it for people and in the ledger
  std::vector<Parameter> parameters;
  int slots = 1;                 // how many slots its runs may take at a time
  std::string program = "zeus";  // the program of Zeus there
};

// Every combination of an entry's lists is a place of its own. `name` is what errors call the file; they are
// corrupt_data with name and line. A file without hosts is refused.
std::vector<Place> parse_hosts(const std::string& name, const std::string& text);

}  // namespace zeus::sweep
