// The processes that train together, as the session sees them: the user's Collective, with what it throws turned into
// one kind of Error; or this process alone. One thread.
#pragma once

#include "train/joining.hpp"

#include <zeus/collective.hpp>
#include <zeus/error.hpp>
#include <zeus/units.hpp>

#include <memory>
#include <string>
#include <vector>

namespace zeus::train {

// What all ranks have come to know together: each of them may act on it by itself, and all do the same.
class AgreedFailure : public Error {
 public:
  using Error::Error;
};

class Ranks {
 public:
  Ranks() = default;
  Ranks(std::shared_ptr<Collective> collective, Seconds patience);

  [[nodiscard]] bool alone() const { return !collective_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  // Of all the one that decides and writes.
  [[nodiscard]] bool leads() const { return rank_ == 0; }

  // With one rank these change nothing. When the others do not answer: an AgreedFailure (they wait in vain as well),
  // after which this process is alone.
  // Joins the fields of a record as its joined() declares (joining.hpp); without an answer it is as it was.
  template <typename Record>
  void agree(Record& record) {
    if (alone()) {
      return;
    }
    Joining joining{leads()};
    record.joined(joining);
    exchange(joining);
    joining.hand_out();
    record.joined(joining);
  }
  // What rank 0 has, of whatever length.
  void share(std::string& text);
  // What each rank has.
  [[nodiscard]] std::vector<std::string> gather(const std::string& text);

 private:
  template <typename Call>
  void call(Call&& call);
  void exchange(Joining& joining);
  void share_from(int root, std::string& text);

  std::shared_ptr<Collective> collective_;
  Seconds patience_;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace zeus::train
