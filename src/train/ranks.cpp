#include "train/ranks.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <span>
#include <utility>

namespace zeus::train {

namespace {

// The most that one rank may send about itself: longer than any profile, too short to exhaust memory.
constexpr double most_bytes = 64e6;

}  // namespace

Ranks::Ranks(std::shared_ptr<Collective> collective, Seconds patience)
    : collective_{std::move(collective)}, patience_{patience} {
  if (!collective_) {
    return;
  }
  rank_ = collective_->rank();
  size_ = collective_->size();
  if (size_ < 1 || rank_ < 0 || rank_ >= size_) {
    throw Error{ErrorKind::invalid_argument,
                fmt::format("the collective says that this is rank {} of {}", rank_, size_),
                "ranks are numbered from 0 to one less than their number"};
  }
  if (size_ == 1) {
    collective_.reset();
  }
}

template <typename Call>
void Ranks::call(Call&& call) {
  if (!collective_) {
    return;
  }
  std::string why;
  try {
    std::forward<Call>(call)(*collective_);
    return;
  } catch (const std::exception& error) {
    why = error.what();
  } catch (...) {
    why = "an exception of unknown type was thrown";
  }
  collective_.reset();
  throw AgreedFailure{ErrorKind::unavailable, fmt::format("the other ranks do not answer rank {}: {}", rank_, why),
                      "check whether they are still running"};
}

void Ranks::exchange(Joining& joining) {
  call([&](Collective& all) {
    if (!joining.sums().empty()) {
      all.sum(joining.sums(), patience_);
    }
    if (!joining.largest().empty()) {
      all.max(joining.largest(), patience_);
    }
  });
}

void Ranks::share_from(int root, std::string& text) {
  call([&](Collective& all) {
    auto length = static_cast<double>(text.size());
    all.broadcast(std::as_writable_bytes(std::span{&length, 1}), root, patience_);
    if (!(length >= 0 && length <= most_bytes)) {
      throw Error{ErrorKind::corrupt_data, "another rank sent a message of an impossible length",
                  "let all ranks report the same steps and epochs in the same order"};
    }
    text.resize(static_cast<std::size_t>(length));
    if (!text.empty()) {
      all.broadcast(std::as_writable_bytes(std::span{text}), root, patience_);
    }
  });
}

void Ranks::share(std::string& text) {
  share_from(0, text);
}

std::vector<std::string> Ranks::gather(const std::string& text) {
  std::vector<std::string> all(static_cast<std::size_t>(size_));
  all[static_cast<std::size_t>(rank_)] = text;
  for (int root = 0; root < size_; ++root) {
    share_from(root, all[static_cast<std::size_t>(root)]);
  }
  return all;
}

}  // namespace zeus::train
