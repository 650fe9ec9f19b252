// Any expression against any output, in pieces of any size: the progress does not depend on how the bytes are cut. The
// first line is the expression, the rest the output.
#include "run/line_splitter.hpp"
#include "run/progress_patterns.hpp"
#include "run/reports.hpp"

#include <zeus/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

std::size_t read_in_pieces(const std::string& expression, std::string_view output, std::size_t piece) {
  zeus::run::ProgressPatterns patterns{{.metric = {}, .epoch = expression, .step = expression}};
  zeus::run::LineSplitter lines;
  std::size_t count = 0;
  const auto take = [&](std::string_view line) {
    count += patterns.read(line).size() + (zeus::run::parse_report(line) ? 1000 : 0);
  };
  while (!output.empty()) {
    lines.feed(output.substr(0, piece), take);
    output.remove_prefix(std::min(piece, output.size()));
  }
  lines.finish(take);
  return count;
}

}  // namespace

extern "C" int fuzz_run_progress(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string expression{text.substr(0, end)};
  const std::string_view output = text.substr(std::min(end + 1, text.size()));
  try {
    if (read_in_pieces(expression, output, output.size() + 1) != read_in_pieces(expression, output, 1 + size % 7)) {
      std::abort();
    }
  } catch (const zeus::Error&) {
    return 0;
  }
  return 0;
}
