#include "serving/tallies.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace zeus::serving {

std::optional<std::size_t> slice_at(std::span<const Slice> slices, Instant moment) {
  const auto after = std::ranges::upper_bound(slices, moment, {}, &Slice::begin);
  if (after == slices.begin() || moment >= (after - 1)->end) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(after - slices.begin() - 1);
}

TokenCounts token_counts(std::span<const Answer> answers) {
  double tokens = 0;
  double pieces = 0;
  std::size_t uncounted = 0;
  for (const Answer& answer : answers) {
    if (answer.usage) {
      tokens += answer.arrivals.empty() ? 0.0 : static_cast<double>(answer.usage->output_tokens);
      pieces += static_cast<double>(answer.arrivals.size());
    } else if (answer.is_whole()) {
      ++uncounted;
    }
  }
  TokenCounts counts;
  if (uncounted > 0) {
    counts.why_unknown =
        fmt::format("the server did not say how many tokens {} of its answers have (no 'usage')", uncounted);
    return counts;
  }
  if (pieces <= 0) {
    counts.why_unknown = "no answer has come with the server's count of its tokens";
    return counts;
  }
  for (const Answer& answer : answers) {
    const bool is_counted = answer.usage && !answer.arrivals.empty();
    counts.per_piece.push_back(is_counted ? static_cast<double>(answer.usage->output_tokens) /
                                                static_cast<double>(answer.arrivals.size())
                                          : tokens / pieces);
  }
  return counts;
}

namespace {

void add_pieces(std::vector<Tally>& tallies, std::span<const Slice> slices, const Answer& answer, double per_piece) {
  const double part =
      answer.is_whole() ? 1.0 / static_cast<double>(std::max<std::size_t>(answer.arrivals.size(), 1)) : 0.0;
  for (const Instant arrival : answer.arrivals) {
    if (const auto slice = slice_at(slices, arrival)) {
      tallies[*slice].pieces += 1;
      tallies[*slice].tokens += per_piece;
      tallies[*slice].answers += part;
    }
  }
  if (answer.arrivals.empty() && answer.is_whole()) {
    if (const auto slice = slice_at(slices, answer.ended)) {
      tallies[*slice].answers += 1;
      tallies[*slice].tokens += answer.usage ? static_cast<double>(answer.usage->output_tokens) : 0.0;
    }
  }
}

void add_presence(std::vector<Tally>& tallies, std::span<const Slice> slices, const Answer& answer) {
  const auto first = std::ranges::upper_bound(slices, answer.sent, {}, &Slice::end);
  for (auto slice = first; slice != slices.end() && slice->begin < answer.ended; ++slice) {
    const Seconds together = std::min(slice->end, answer.ended) - std::max(slice->begin, answer.sent);
    if (slice->time() > Seconds{0}) {
      tallies[static_cast<std::size_t>(slice - slices.begin())].in_flight += together / slice->time();
    }
  }
}

}  // namespace

std::vector<Tally> tallies_of(std::span<const Slice> slices, std::span<const Answer> answers,
                              const TokenCounts& counts) {
  std::vector<Tally> tallies;
  for (const Slice& slice : slices) {
    tallies.push_back({.time = slice.time(),
                       .energy = slice.energy.energy ? std::optional{slice.energy.energy->value} : std::nullopt});
  }
  for (std::size_t i = 0; i < answers.size(); ++i) {
    add_pieces(tallies, slices, answers[i], counts.per_piece.empty() ? 0.0 : counts.per_piece[i]);
    add_presence(tallies, slices, answers[i]);
  }
  return tallies;
}

}  // namespace zeus::serving
