#include "trace/dag_file.hpp"

#include "trace/bounds.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <system_error>
#include <utility>
#include <vector>

namespace zeus::trace {

namespace {

constexpr std::uint64_t most_devices = 1'000'000;
constexpr std::uint64_t most_copies = 10'000'000;

class DagReader {
 public:
  DagReader(const std::string& name, std::string_view text) : name_{name}, rest_{text} {}

  records::ComputationGraph read() {
    while (!rest_.empty()) {
      take_line();
      if (!fields_.empty()) {
        read_statement();
      }
    }
    if (graph_.computations.empty()) {
      throw error("there is no computation", "add lines such as: computation F0.0 0 forward0");
    }
    chain_devices();
    return std::move(graph_);
  }

 private:
  void take_line() {
    const std::size_t end = rest_.find('\n');
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    ++line_;
    line = line.substr(0, line.find('#'));
    constexpr std::string_view blanks = " \t\r";
    fields_.clear();
    for (std::size_t start = line.find_first_not_of(blanks); start != std::string_view::npos;) {
      const std::size_t stop = std::min(line.find_first_of(blanks, start), line.size());
      fields_.push_back(line.substr(start, stop - start));
      start = line.find_first_not_of(blanks, stop);
    }
  }

  void read_statement() {
    if (fields_[0] == "profile") {
      expect_fields(5, 5, "profile NAME MHZ SECONDS JOULES");
      records::ComputationProfile& profile = graph_.profiles[place_of_profile(fields_[1], true)];
      profile.options.push_back({.frequency = Megahertz{number(2, highest_frequency)},
                                 .time = Seconds{number(3, longest_time)},
                                 .energy = Joules{number(4, most_energy)}});
    } else if (fields_[0] == "computation") {
      expect_fields(4, 5, "computation NAME DEVICE PROFILE [INSTRUCTION]");
      const std::string computation{fields_[1]};
      if (!computations_.emplace(computation, graph_.computations.size()).second) {
        throw error(fmt::format("the computation '{}' is listed twice", quoted(1)), "give each a name of its own");
      }
      const auto device = static_cast<std::size_t>(integer(2, 0, most_devices - 1));
      graph_.devices = std::max(graph_.devices, device + 1);
      graph_.computations.push_back({.name = computation,
                                     .instruction = std::string{fields_.size() > 4 ? fields_[4] : fields_[1]},
                                     .device = device,
                                     .profile = place_of_profile(fields_[3], false)});
    } else if (fields_[0] == "dependency") {
      expect_fields(3, 4, "dependency FROM TO [SECONDS]");
      graph_.dependencies.push_back({.from = place_of_computation(1),
                                     .to = place_of_computation(2),
                                     .time = Seconds{fields_.size() > 3 ? number(3, longest_time) : 0.0}});
    } else if (fields_[0] == "copies") {
      expect_fields(2, 2, "copies COUNT");
      graph_.copies = static_cast<std::size_t>(integer(1, 1, most_copies));
    } else {
      throw error(fmt::format("'{}' is not a statement", quoted(0)), "use profile, computation, dependency or copies");
    }
  }

  // Makes each device run its computations one after another.
  void chain_devices() {
    constexpr std::size_t nothing = static_cast<std::size_t>(-1);
    std::vector<std::size_t> last(graph_.devices, nothing);
    for (std::size_t i = 0; i < graph_.computations.size(); ++i) {
      std::size_t& before = last[graph_.computations[i].device];
      if (before != nothing) {
        graph_.dependencies.push_back({.from = before, .to = i, .time = Seconds{0}});
      }
      before = i;
    }
  }

  std::size_t place_of_profile(std::string_view profile, bool make) {
    const auto found = profiles_.find(profile);
    if (found != profiles_.end()) {
      return found->second;
    }
    if (!make) {
      throw error(fmt::format("there is no profile '{}'", profile.substr(0, longest_quote)),
                  "give its measurements on earlier lines");
    }
    graph_.profiles.push_back({.name = std::string{profile}, .options = {}});
    return profiles_.emplace(std::string{profile}, graph_.profiles.size() - 1).first->second;
  }

  std::size_t place_of_computation(std::size_t field) {
    const auto found = computations_.find(fields_[field]);
    if (found == computations_.end()) {
      throw error(fmt::format("there is no computation '{}'", quoted(field)), "list it on an earlier line");
    }
    return found->second;
  }

  void expect_fields(std::size_t least, std::size_t most, std::string_view form) {
    if (fields_.size() < least || fields_.size() > most) {
      throw error(fmt::format("a {} with {} fields", fields_[0], fields_.size()), fmt::format("write {}", form));
    }
  }

  double number(std::size_t field, double most) {
    const std::string_view text = fields_[field];
    double value = 0.0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc{} || end != text.data() + text.size() || !(value >= 0.0 && value <= most)) {
      throw error(fmt::format("'{}' is not a number from 0 to {}", quoted(field), most), "correct the line");
    }
    return value;
  }

  std::uint64_t integer(std::size_t field, std::uint64_t least, std::uint64_t most) {
    const std::string_view text = fields_[field];
    std::uint64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc{} || end != text.data() + text.size() || value < least || value > most) {
      throw error(fmt::format("'{}' is not a whole number from {} to {}", quoted(field), least, most),
                  "correct the line");
    }
    return value;
  }

  [[nodiscard]] std::string_view quoted(std::size_t field) const { return fields_[field].substr(0, longest_quote); }

  [[nodiscard]] Error error(const std::string& what, const std::string& advice) const {
    return Error{ErrorKind::corrupt_data, fmt::format("{}:{}: {}", name_, line_, what), advice};
  }

  const std::string& name_;
  std::string_view rest_;
  std::size_t line_ = 0;
  std::vector<std::string_view> fields_;
  std::map<std::string, std::size_t, std::less<>> profiles_;
  std::map<std::string, std::size_t, std::less<>> computations_;
  records::ComputationGraph graph_;
};

}  // namespace

records::ComputationGraph parse_dag(const std::string& name, std::string_view text) {
  return DagReader{name, text}.read();
}

}  // namespace zeus::trace
