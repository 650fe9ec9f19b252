#include "run/learning_rate.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace zeus::run {

double LearningRate::at(int other_batch_size) const {
  const double ratio = static_cast<double>(other_batch_size) / batch_size;
  return scaling == RateScaling::linear ? rate * ratio : rate * std::sqrt(ratio);
}

std::string to_text(const LearningRate& rate) {
  return fmt::format("{}:{} {}", rate.batch_size, rate.rate, field::name_of(rate.scaling));
}

LearningRate parse_learning_rate(std::string_view text, RateScaling scaling) {
  LearningRate result{.scaling = scaling};
  const char* const end = text.data() + text.size();
  const auto [colon, size_error] = std::from_chars(text.data(), end, result.batch_size);
  if (size_error == std::errc{} && colon != end && *colon == ':' && result.batch_size > 0) {
    const auto [rest, rate_error] = std::from_chars(colon + 1, end, result.rate);
    if (rate_error == std::errc{} && rest == end && std::isfinite(result.rate) && result.rate > 0) {
      return result;
    }
  }
  throw Error{ErrorKind::invalid_argument, fmt::format("'--learning-rate {}' is not a batch size and its rate", text),
              "write it as B:LR, as in 128:0.1"};
}

}  // namespace zeus::run
