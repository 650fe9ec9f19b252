// The processes that train together, as the session sees them: the user's Collective, whose exceptions become one kind
// of Error; or this process alone. One thread.
#pragma once

#include "train/joining.hpp"

#include <zeus/collective.hpp>
#include <zeus/error.hpp>
#include <zeus/units.hpp>

#include <memory>
#include <string>
#include <vector>

namespace zeus::train {

// A failure that all ranks know of: each may act on it by itself, and all will do the same.
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
  // Whether this rank decides and writes for all.
  [[nodiscard]] bool leads() const { return rank_ == 0; }

  // With one rank these change nothing. They throw an AgreedFailure if the other ranks do not answer (those
  // throw one too), and this process is alone from then on. Joins the fields of a record as its joined() declares
  // (joining.hpp); on failure the record is unchanged.
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
  // Every rank gets the string of rank 0, of any length.
  void share(std::string& text);
  // The string of each rank.
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
