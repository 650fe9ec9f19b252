// Answers goodput_test.py: for each line of standard input, whose first word is the question, a line of numbers.
#include "research/goodput.hpp"

#include <zeus/units.hpp>

#include <fmt/format.h>

#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace {

using zeus::research::StepModel;

double next(std::istream& words) {
  double value = 0.0;
  words >> value;
  return value;
}

zeus::Seconds next_time(std::istream& words) {
  return zeus::Seconds{next(words)};
}

// What both questions about a goodput begin with.
struct Asked {
  StepModel model;
  zeus::research::GradientStatistics statistics;
  double reference = 0.0;
  int devices = 0;
};

Asked read_asked(std::istream& words) {
  Asked asked;
  asked.model.compute = next_time(words);
  asked.model.compute_per_sample = next_time(words);
  asked.model.exchange = next_time(words);
  asked.model.exchange_per_device = next_time(words);
  asked.model.overlap = next(words);
  asked.statistics.square = next(words);
  asked.statistics.variance = next(words);
  asked.reference = next(words);
  asked.devices = static_cast<int>(next(words));
  return asked;
}

std::string answer(const std::string& question, std::istream& words) {
  if (question == "goodput") {
    const Asked asked = read_asked(words);
    return fmt::format(
        "{:.17g}", zeus::research::goodput(asked.model, asked.statistics, asked.reference, asked.devices, next(words)));
  }
  if (question == "best") {
    const Asked asked = read_asked(words);
    const auto least = static_cast<int>(next(words));
    const auto most = static_cast<int>(next(words));
    return fmt::format(
        "{}", zeus::research::best_share(asked.model, asked.statistics, asked.reference, asked.devices, least, most));
  }
  std::vector<zeus::research::StepObservation> seen;
  for (auto left = static_cast<int>(next(words)); left > 0; --left) {
    zeus::research::StepObservation one;
    one.devices = static_cast<int>(next(words));
    one.per_device = next(words);
    one.compute = next_time(words);
    one.step = next_time(words);
    seen.push_back(one);
  }
  const StepModel model = zeus::research::fit_step_model(seen);
  return fmt::format("{:.17g} {:.17g} {:.17g} {:.17g} {:.17g}", model.compute.value(), model.compute_per_sample.value(),
                     model.exchange.value(), model.exchange_per_device.value(), model.overlap);
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words{line};
    std::string question;
    words >> question;
    std::cout << answer(question, words) << '\n';
  }
}
